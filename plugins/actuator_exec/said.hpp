// Said: what the program of one call writes to stderr. It makes lines of it that are harmless, for
// the log and for the text of an error.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "covers.hpp"

namespace davit::actuator_exec {

class Said {
 public:
  using Log = std::function<void(const std::string& line)>;

  // `covers` outlives this object. `log` gets so many lines, then one that says that more come.
  Said(const Covers& covers, Log log) : covers_(covers), log_(std::move(log)) {}

  void add(std::string_view piece);
  // The last line, if it has no end.
  void end();
  // The last lines, on one. Empty: it has said nothing.
  std::string last_words() const;

 private:
  void line();

  const Covers& covers_;
  const Log log_;
  std::string begun_;  // of a line
  bool cut_ = false;   // more of that line has been dropped
  size_t lines_ = 0;   // that the log got
  std::deque<std::string> last_;
};

}  // namespace davit::actuator_exec
