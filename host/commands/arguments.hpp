// The words after a sub-command. Code that knows an option takes it out; the words that are left
// are positional.
//
//   const bool wait = arguments.flag("--wait");
//   // "-o json", "--output json" or "--output=json"
//   const auto format = arguments.option("-o", "--output");
//   if (auto bad = arguments.unknown()) return usage_error("apply", *bad);
//   for (const std::string& file : arguments.rest()) ...
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

class Arguments {
 public:
  explicit Arguments(std::vector<std::string> words) : words_(std::move(words)) {}

  // True if the flag was given, under either name.
  bool flag(std::string_view name, std::string_view other = {});
  // The value after the option; the last one wins. `unknown` reports an option without a value.
  std::optional<std::string> option(std::string_view name, std::string_view other = {});
  // All values of the option, in order: "-f a -f b".
  std::vector<std::string> options(std::string_view name, std::string_view other = {});
  // A length of time ("60s"); the last one wins. `unknown` reports a value that is no duration.
  std::optional<std::chrono::milliseconds> duration(std::string_view name);
  // What is wrong with the options: an option that no code knows ("unknown option --foo"), one
  // without its value, or one with an invalid value. "-" alone is positional (standard input), and
  // so are all words after "--".
  std::optional<std::string> unknown() const;
  // The positional words.
  std::vector<std::string> rest() const;

 private:
  size_t options_end() const;  // index of "--", or of the end
  std::vector<std::string> words_;
  std::string problem_;
};

}  // namespace davit::host
