// The words after a sub-command: options are taken out by the code that knows them, what is left is
// positional.
//
//   const bool wait = arguments.flag("--wait");
//   const auto format = arguments.option("-o", "--output");   // "-o json", "--output json",
//   "--output=json" if (auto bad = arguments.unknown()) return usage(*bad); for (const std::string&
//   file : arguments.rest()) ...
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

  // Was it there? Also under its short or long name.
  bool flag(std::string_view name, std::string_view other = {});
  // The value after it; the last one wins. No value: noted, see `unknown`.
  std::optional<std::string> option(std::string_view name, std::string_view other = {});
  // All values, in order: "-f a -f b".
  std::vector<std::string> options(std::string_view name, std::string_view other = {});
  // A length of time ("60s"); the last one wins. What is none: noted, see `unknown`.
  std::optional<std::chrono::milliseconds> duration(std::string_view name);
  // What is wrong with the words that are left: an option nobody knows ("unknown option --foo"), or
  // one that came without its value or with one that it cannot have. "-" alone is positional
  // (standard input); after "--" everything is.
  std::optional<std::string> unknown() const;
  // The positional words.
  std::vector<std::string> rest() const;

 private:
  size_t options_end() const;  // index of "--", or of the end
  std::vector<std::string> words_;
  std::string problem_;
};

}  // namespace davit::host
