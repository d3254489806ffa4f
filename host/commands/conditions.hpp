// The conditions that `davit status` shows: what each means and what to do about it. The one place
// where that is said; README files repeat it, and a test compares.
#pragma once

#include <string_view>
#include <vector>

namespace davit::host {

struct Condition {
  std::string_view name;   // as status shows it
  std::string_view means;  // whole sentences, like the next
  std::string_view to_do;
};

const std::vector<Condition>& conditions();

}  // namespace davit::host
