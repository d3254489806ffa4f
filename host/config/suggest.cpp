#include "suggest.hpp"

#include <algorithm>

namespace davit::host {

size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

namespace {

template <class Words>
std::string nearest_of(std::string_view wanted, const Words& words) {
  constexpr size_t longest = 64;  // longer words are not mistyped into one another
  if (wanted.size() > longest) return {};
  // At most a third of the letters may be wrong. Beyond that the suggestion would be a guess.
  size_t best = std::max<size_t>(1, wanted.size() / 3) + 1;
  std::string found;
  for (const std::string& word : words) {
    if (word.size() > longest) continue;
    size_t d = distance(wanted, word);
    // Accept a forgotten unit: "poll_interval" for "poll_interval_ms".
    if (d >= best && wanted.size() >= 4 && word.starts_with(std::string(wanted) + "_"))
      d = best - 1;
    // People omit letters more often than they add some, so the longer of two equally near words
    // wins.
    if (d < best || (d == best && !found.empty() && word.size() > found.size())) {
      best = d;
      found = word;
    }
  }
  return found;
}

}  // namespace

std::string nearest(std::string_view wanted, const std::set<std::string, std::less<>>& words) {
  return nearest_of(wanted, words);
}
std::string nearest(std::string_view wanted, const std::vector<std::string>& words) {
  return nearest_of(wanted, words);
}

}  // namespace davit::host
