#include "text_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "output.hpp"

namespace davit::host {

namespace {

const char* escape(Tone tone) {
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

}  // namespace

size_t width(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string TextTable::print(bool colour) {
  const bool first = widths_.empty();
  if (first) {
    for (const auto& h : headings_) widths_.push_back(width(h));
  }
  for (auto& row : rows_) {
    for (Cell& cell : row) cell.text = harmless(std::move(cell.text));
    for (size_t i = 0; i < row.size(); ++i) widths_[i] = std::max(widths_[i], width(row[i].text));
  }
  std::string out;
  auto line = [&](const std::vector<Cell>& cells) {
    for (size_t i = 0; i < cells.size(); ++i) {
      const bool toned = colour && cells[i].tone != Tone::plain;
      if (toned) out += escape(cells[i].tone);
      out += cells[i].text;
      if (toned) out += "\033[0m";
      if (i + 1 < cells.size()) out.append(widths_[i] - width(cells[i].text) + 2, ' ');
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    out += '\n';
  };
  if (first) line({headings_.begin(), headings_.end()});
  for (const auto& row : rows_) line(row);
  rows_.clear();
  return out;
}

bool use_colour() {
  const char* no = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool dumb = terminal == nullptr || std::strcmp(terminal, "dumb") == 0;
  return isatty(STDOUT_FILENO) == 1 && (no == nullptr || *no == '\0') && !dumb;
}

std::string age(int64_t unix_ms, int64_t now_unix_ms) {
  if (unix_ms <= 0) return "-";
  const int64_t s = std::max<int64_t>(0, now_unix_ms - unix_ms) / 1000;
  if (s < 120) return std::to_string(s) + "s";
  if (s < 120 * 60) return std::to_string(s / 60) + "m";
  if (s < 48 * 3600) return std::to_string(s / 3600) + "h";
  return std::to_string(s / 86400) + "d";
}

}  // namespace davit::host
