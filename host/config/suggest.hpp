// The nearest known word to a mistyped one, for "did you mean" in error messages.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

// The number of letters to insert, remove, replace or swap with a neighbour that turns `a` into
// `b`.
size_t distance(std::string_view a, std::string_view b);

// The word nearest to `wanted` if it is near enough to be a typing error, otherwise an empty
// string.
std::string nearest(std::string_view wanted, const std::set<std::string, std::less<>>& words);
std::string nearest(std::string_view wanted, const std::vector<std::string>& words);

}  // namespace davit::host
