#include "text_table.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace davit::host {

namespace {

constexpr size_t column_gap = 2;
// A cell with this much room is readable. Further columns are shown rather than that a cell gets
// more.
constexpr size_t enough_columns = 24;
// No column is cut to less.
constexpr size_t least_columns = 6;

const char* colour_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "\033[32m";
    case Tone::middling:
      return "\033[33m";
    case Tone::bad:
      return "\033[31m";
    case Tone::faint:
      return "\033[2m";
    case Tone::plain:
      break;
  }
  return "";
}

bool begins_letter(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

// The number of bytes of the first `count` letters.
size_t bytes_of(const std::string& text, size_t count) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_letter(text[at]) && count-- == 0) break;
  }
  return at;
}

std::string cut(const std::string& text, size_t room) {
  if (width(text) <= room) return text;
  return text.substr(0, bytes_of(text, room - 1)) + "…";
}

size_t sum_of(const std::vector<size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(),
                         widths.empty() ? 0 : column_gap * (widths.size() - 1));
}

}  // namespace

size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), begins_letter));
}

void TextTable::measure() {
  widths_.resize(headings_.size());
  for (size_t i = 0; i < headings_.size(); ++i)
    widths_[i] = std::max(widths_[i], width(headings_[i].text));
  for (Row& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      row[i].text = harmless(std::move(row[i].text));
      widths_[i] = std::max(widths_[i], width(row[i].text));
    }
  }
}

// Chooses the columns to show. This happens once, because the headings are printed once.
void TextTable::choose(size_t room) {
  shown_.resize(headings_.size());
  std::iota(shown_.begin(), shown_.end(), size_t{0});
  const auto need = [this] {
    std::vector<size_t> needed;
    // A spare column is left out rather than cut.
    for (const size_t i : shown_) {
      const bool spare = headings_[i].spare != 0;
      needed.push_back(spare ? widths_[i] : std::min(widths_[i], enough_columns));
    }
    return sum_of(needed);
  };
  const auto rank = [this](size_t i) {
    return headings_[i].spare == 0 ? INT_MAX : headings_[i].spare;
  };
  while (room > 0 && need() > room) {
    const auto first = std::min_element(shown_.begin(), shown_.end(),
                                        [&](size_t a, size_t b) { return rank(a) < rank(b); });
    if (rank(*first) == INT_MAX) break;
    shown_.erase(first);
  }
}

// The widths of the shown columns. The widest column shrinks first.
std::vector<size_t> TextTable::fitted(size_t room) const {
  std::vector<size_t> out;
  for (const size_t i : shown_) out.push_back(widths_[i]);
  while (room > 0 && sum_of(out) > room) {
    const auto widest = std::max_element(out.begin(), out.end());
    if (*widest <= least_columns) break;
    --*widest;
  }
  return out;
}

void TextTable::line(const Row& cells, const std::vector<size_t>& widths, bool colour,
                     std::string& out) {
  std::vector<std::string> below;  // further lines of the last column
  size_t indent = 0;
  for (size_t n = 0; n < shown_.size() && shown_[n] < cells.size(); ++n) {
    const Cell& cell = cells[shown_[n]];
    const bool last = shown_[n] + 1 == headings_.size();
    std::string text = cell.text;
    if (last && last_ == Last::wrapped) {
      below = wrapped(text, widths[n]);
      text = below.front();
      below.erase(below.begin());
    } else {
      text = cut(text, widths[n]);
    }
    const size_t padding = widths[n] - width(text) + column_gap;
    const bool toned = colour && cell.tone != Tone::plain;
    if (toned) out += colour_of(cell.tone);
    out += text;
    if (toned) out += "\033[0m";
    if (last) break;
    out.append(padding, ' ');
    indent += widths[n] + column_gap;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  out += '\n';
  for (const std::string& more : below) out += std::string(indent, ' ') + more + '\n';
}

std::string TextTable::print(bool colour, size_t room) {
  const bool first = widths_.empty();
  measure();
  if (first) choose(room);
  const std::vector<size_t> widths = fitted(room);
  std::string out;
  Row names;
  for (const Heading& h : headings_) names.emplace_back(h.text);
  const bool named =
      std::any_of(names.begin(), names.end(), [](const Cell& c) { return !c.text.empty(); });
  if (first && named) line(names, widths, colour, out);
  for (const Row& row : rows_) line(row, widths, colour, out);
  rows_.clear();
  return out;
}

bool use_colour() {
  const char* no = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return isatty(STDOUT_FILENO) == 1 && (no == nullptr || *no == '\0') && !dumb;
}

size_t terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string age(int64_t unix_ms, int64_t now_unix_ms) {
  if (unix_ms <= 0) return "-";
  const int64_t s = std::max<int64_t>(0, now_unix_ms - unix_ms) / 1000;
  if (s < 120) return std::to_string(s) + "s";
  if (s < 120 * 60) return std::to_string(s / 60) + "m";
  if (s < 48 * 3600) return std::to_string(s / 3600) + "h";
  return std::to_string(s / 86400) + "d";
}

std::vector<std::string> wrapped(std::string text, size_t room) {
  std::vector<std::string> out;
  while (width(text) > room) {
    const size_t most = bytes_of(text, room);
    const size_t space = text.rfind(' ', most);
    const bool at_space = space != std::string::npos && space > 0;
    out.push_back(text.substr(0, at_space ? space : most));
    text.erase(0, at_space ? space + 1 : most);
  }
  out.push_back(std::move(text));
  return out;
}

std::string harmless(std::string text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool c1 = c == 0xc2 && next >= 0x80 && next < 0xa0;  // U+0080 to U+009F
    if (c1) ++i;
    out += c1 || c < ' ' || c == 0x7f ? ' ' : text[i];
  }
  return out;
}

}  // namespace davit::host
