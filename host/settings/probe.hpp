// Finds out which settings a table of the configuration has, by asking whoever reads it. The ABI
// carries no list of them: a reader declares a key by asking for it, and refuses a wrong value in
// known words. So a probe gives the reader a text with nothing in it, learns which keys it asks
// for, gives these wrong values, learns from the refusals what they take, and goes on until there
// is nothing new.
//
//   SettingsProbe probe("plugin.probe", "module = \"streamer\"");
//   while (!probe.done()) {
//     Faults faults;
//     const Config config = Config::parse(probe.text(), SettingsProbe::file, faults);
//     ... whatever reads the table reads it ...
//     probe.learn(config.root(), faults);
//   }
//   probe.found();
//
// Pure. A key that is read only beside certain values of others is found when these values are
// words that a refusal names, or true.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/faults.hpp"
#include "config/node.hpp"
#include "setting.hpp"

namespace davit::host {

class SettingsProbe {
 public:
  static constexpr const char* file = "probe";  // what the text is to be named when it is parsed

  // `table`: the dotted name of the table that is probed. `given`: lines that it has each time;
  // their keys are no settings.
  SettingsProbe(std::string table, std::string given = {});
  ~SettingsProbe();

  bool done() const { return done_; }
  // The text of the next attempt.
  std::string text() const;
  // What became of it.
  void learn(const Node& root, const Faults& faults);
  // All settings as parts of one table.
  Setting found() const;

 private:
  struct Guess;
  // A value of one key that may make a reader ask for more than it does otherwise.
  struct Variant {
    std::vector<std::string> path;
    std::string value;
  };
  void print(const Guess& table, const std::string& heading, std::string& out) const;
  bool ask(Guess& table, const Node& node);
  void hear(std::string_view line);
  Guess* at(const std::vector<std::string>& path) const;
  static void advance(Guess& table);
  static bool all_usual(const Guess& table);
  void collect_variants(const Guess& table, std::vector<std::string>& path);

  const std::string table_, given_;
  std::unique_ptr<Guess> root_;
  std::optional<Variant> variant_;  // the one in the text
  std::vector<Variant> variants_;   // still to be tried
  std::set<std::pair<std::vector<std::string>, std::string>> known_variants_;
  int rounds_ = 0;
  bool done_ = false;
};

}  // namespace davit::host
