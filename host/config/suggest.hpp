// "did you mean": the nearest of the words that were possible.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

// Letters to insert, remove, replace or swap with a neighbour to make b of a.
size_t distance(std::string_view a, std::string_view b);

// The word nearest to `wanted`, when it is near enough to be a typing error; otherwise empty.
std::string nearest(std::string_view wanted, const std::set<std::string, std::less<>>& words);
std::string nearest(std::string_view wanted, const std::vector<std::string>& words);

}  // namespace davit::host
