// Covers: takes the values of the program's environment out of texts that people see (rule T11). A
// program may print what it was given.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <davit/types.hpp>

namespace davit::actuator_exec {

class Covers {
 public:
  Covers() = default;
  ~Covers();
  Covers(Covers&&) = default;
  Covers& operator=(Covers&&) = default;

  // A value of one or more lines. Values of less than `least` bytes are nobody's secret, and are in
  // many words.
  void add(const std::string& name, std::string_view value, size_t least);
  // The text with "[NAME]" for each value.
  std::string over(std::string_view text) const;
  // Likewise, on one line and harmless (process::one_line), however long: also without a value that
  // control characters or colours stood in. A text is cut after this, not before.
  std::string on_one_line(std::string_view text) const;
  // How long a part of a value at the end of a text that was cut can be.
  size_t longest() const { return values_.empty() ? 0 : values_.front().second.size(); }

 private:
  void add_part(const std::string& name, std::string_view value);
  Pairs values_;  // the name and the value, the longest first
};

}  // namespace davit::actuator_exec
