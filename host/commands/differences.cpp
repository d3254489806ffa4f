#include "differences.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text_pieces.hpp"

namespace davit::host {

namespace {

namespace json = boost::json;

using Lines = std::vector<std::string_view>;

void add_changes(const std::string& path, const json::value& before, const json::value& after,
                 std::vector<FieldChange>& to);

void add_object_changes(const std::string& path, const json::object& before,
                        const json::object& after, std::vector<FieldChange>& to) {
  const auto below = [&](const json::string_view key) {
    return (path.empty() ? "" : path + ".") + std::string(key);
  };
  for (const auto& [key, value] : before) {
    const json::value* other = after.if_contains(key);
    if (other == nullptr) {
      to.push_back({below(key), value, std::nullopt});
    } else {
      add_changes(below(key), value, *other, to);
    }
  }
  for (const auto& [key, value] : after) {
    if (!before.contains(key)) to.push_back({below(key), std::nullopt, value});
  }
}

void add_array_changes(const std::string& path, const json::array& before, const json::array& after,
                       std::vector<FieldChange>& to) {
  for (size_t n = 0; n < std::max(before.size(), after.size()); ++n) {
    const std::string item = path + "[" + std::to_string(n) + "]";
    if (n >= after.size()) {
      to.push_back({item, before[n], std::nullopt});
    } else if (n >= before.size()) {
      to.push_back({item, std::nullopt, after[n]});
    } else {
      add_changes(item, before[n], after[n], to);
    }
  }
}

void add_changes(const std::string& path, const json::value& before, const json::value& after,
                 std::vector<FieldChange>& to) {
  if (before.is_object() && after.is_object())
    return add_object_changes(path, before.get_object(), after.get_object(), to);
  if (before.is_array() && after.is_array())
    return add_array_changes(path, before.get_array(), after.get_array(), to);
  if (before != after) to.push_back({path, before, after});
}

json::value ordered(const json::value& v, int levels_kept) {
  if (v.is_array()) {
    json::array out;
    for (const auto& item : v.get_array()) out.push_back(ordered(item, levels_kept - 1));
    return out;
  }
  if (!v.is_object()) return v;
  std::vector<const json::key_value_pair*> entries;
  for (const auto& entry : v.get_object()) entries.push_back(&entry);
  if (levels_kept <= 0) {
    std::sort(entries.begin(), entries.end(),
              [](const auto* a, const auto* b) { return a->key() < b->key(); });
  }
  json::object out;
  for (const auto* entry : entries) out[entry->key()] = ordered(entry->value(), levels_kept - 1);
  return out;
}

// A line of both texts, of the first alone, or of the second alone.
struct Edit {
  char sign;  // ' ', '-' or '+'
  std::string_view line;
};

// Myers' greedy algorithm, "An O(ND) Difference Algorithm" (1986): the shortest script. Texts that
// differ in more lines than this are replaced as a whole; the memory grows with its square.
constexpr int edits_max = 2000;

class Script {
 public:
  Script(const Lines& a, const Lines& b) : a_(a), b_(b) {}

  std::vector<Edit> make() {
    while (same_ < std::min(a_.size(), b_.size()) && a_[same_] == b_[same_]) ++same_;
    while (tail_ < std::min(a_.size(), b_.size()) - same_ &&
           a_[a_.size() - 1 - tail_] == b_[b_.size() - 1 - tail_])
      ++tail_;
    rows_ = static_cast<int>(a_.size() - same_ - tail_);
    columns_ = static_cast<int>(b_.size() - same_ - tail_);
    for (size_t n = 0; n < same_; ++n) out_.push_back({' ', a_[n]});
    search() ? trace_back() : replace_all();
    for (size_t n = a_.size() - tail_; n < a_.size(); ++n) out_.push_back({' ', a_[n]});
    return std::move(out_);
  }

 private:
  std::string_view a(int row) const { return a_[same_ + static_cast<size_t>(row)]; }
  std::string_view b(int column) const { return b_[same_ + static_cast<size_t>(column)]; }

  // Whether the best path to diagonal k with d edits comes from above (an insertion).
  static bool from_above(const std::vector<int>& reached, int d, int k) {
    const auto at = [&](int diagonal) { return reached[static_cast<size_t>(diagonal + d)]; };
    return k == -d || (k != d && at(k - 1) < at(k + 1));
  }

  // Keeps, for each number of edits, how far each diagonal got before. False: it needs too many.
  bool search() {
    std::vector<int> reached(1, 0);  // by diagonal + d
    for (int d = 0; d <= std::min(rows_ + columns_, edits_max); ++d) {
      std::vector<int> next(static_cast<size_t>(2 * d + 3), 0);  // by diagonal + d + 1
      for (int k = -d; k <= d; k += 2) {
        const int row = furthest(reached, d, k);
        next[static_cast<size_t>(k + d + 1)] = row;
        if (row < rows_ || row - k < columns_) continue;
        trail_.push_back(std::move(reached));
        return true;
      }
      trail_.push_back(std::exchange(reached, std::move(next)));
    }
    return false;
  }
  int furthest(const std::vector<int>& reached, int d, int k) const {
    const auto at = [&](int diagonal) { return reached[static_cast<size_t>(diagonal + d)]; };
    int row = d == 0 ? 0 : from_above(reached, d, k) ? at(k + 1) : at(k - 1) + 1;
    while (row < rows_ && row - k < columns_ && a(row) == b(row - k)) ++row;
    return row;
  }

  void trace_back() {
    std::vector<Edit> backwards;
    int row = rows_, column = columns_;
    for (int d = static_cast<int>(trail_.size()) - 1; d > 0; --d) {
      const auto& reached = trail_[static_cast<size_t>(d)];
      const int k = row - column;
      const bool above = from_above(reached, d, k);
      const int from = reached[static_cast<size_t>((above ? k + 1 : k - 1) + d)];
      const int from_column = from - (above ? k + 1 : k - 1);
      while (row > (above ? from : from + 1) && column > (above ? from_column + 1 : from_column)) {
        backwards.push_back({' ', a(--row)});
        --column;
      }
      if (above) {
        backwards.push_back({'+', b(--column)});
      } else {
        backwards.push_back({'-', a(--row)});
      }
    }
    while (row > 0) backwards.push_back({' ', a(--row)});
    out_.insert(out_.end(), backwards.rbegin(), backwards.rend());
  }

  void replace_all() {
    for (int n = 0; n < rows_; ++n) out_.push_back({'-', a(n)});
    for (int n = 0; n < columns_; ++n) out_.push_back({'+', b(n)});
  }

  const Lines& a_;
  const Lines& b_;
  size_t same_ = 0, tail_ = 0;  // lines that both begin and end with
  int rows_ = 0, columns_ = 0;  // the lines between them
  std::vector<std::vector<int>> trail_;
  std::vector<Edit> out_;
};

constexpr size_t lines_around = 3;

// "12,7": the first line and how many there are.
std::string extent(size_t first, size_t count) {
  const std::string begin = std::to_string(count == 0 ? first : first + 1);
  return count == 1 ? begin : begin + "," + std::to_string(count);
}

// The lines [begin, end) of a script with the "@@" before them.
std::string hunk(const std::vector<Edit>& script, size_t begin, size_t end, size_t old_line,
                 size_t new_line) {
  size_t removed = 0, added = 0;
  std::string lines;
  for (size_t n = begin; n < end; ++n) {
    removed += script[n].sign != '+';
    added += script[n].sign != '-';
    lines += script[n].sign + std::string(script[n].line) + "\n";
  }
  return "@@ -" + extent(old_line, removed) + " +" + extent(new_line, added) + " @@\n" + lines;
}

}  // namespace

std::vector<FieldChange> changed_fields(const json::value& before, const json::value& after) {
  std::vector<FieldChange> out;
  add_changes("", before, after, out);
  return out;
}

json::value with_ordered_keys(const json::value& document) {
  return ordered(document, 1);
}

std::string unified_diff(const std::string& before, const std::string& after,
                         const std::string& old_name, const std::string& new_name) {
  const Lines old_lines = split_lines(before), new_lines = split_lines(after);
  const std::vector<Edit> script = Script(old_lines, new_lines).make();
  std::string out;
  size_t old_line = 0, new_line = 0;  // before script[done]
  const auto pass = [&](size_t from, size_t to) {
    for (size_t n = from; n < to; ++n) {
      old_line += script[n].sign != '+';
      new_line += script[n].sign != '-';
    }
  };
  for (size_t done = 0, at = 0; at < script.size();) {
    if (script[at].sign == ' ') {
      ++at;
      continue;
    }
    const size_t begin = std::max(done, at - std::min(at, lines_around));
    size_t end = at + 1;  // behind the last change of the hunk
    for (size_t n = end; n < script.size() && n <= end + 2 * lines_around; ++n) {
      if (script[n].sign != ' ') end = n + 1;
    }
    at = end;
    end = std::min(end + lines_around, script.size());
    pass(done, begin);
    out += hunk(script, begin, end, old_line, new_line);
    pass(begin, end);
    done = end;
    at = std::max(at, end);
  }
  if (out.empty()) return out;
  return "--- " + old_name + "\n+++ " + new_name + "\n" + out;
}

std::string coloured_diff(const std::string& diff) {
  constexpr const char* reset = "\033[0m";
  std::string out;
  for (const std::string_view line : split_lines(diff)) {
    const char* colour = line.starts_with("---") || line.starts_with("+++") ? "\033[1m"
                         : line.starts_with("@@")                           ? "\033[36m"
                         : line.starts_with("-")                            ? "\033[31m"
                         : line.starts_with("+")                            ? "\033[32m"
                                                                            : nullptr;
    const std::string text(line);
    out += (colour == nullptr ? text : colour + text + reset) + "\n";
  }
  return out;
}

}  // namespace davit::host
