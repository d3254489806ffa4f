// Columns that line up, and colour when somebody looks at a terminal. Pure but for use_colour().
#pragma once

#include <string>
#include <vector>

namespace davit::host {

enum class Tone { plain, good, middling, bad, faint };

class TextTable {
 public:
  struct Cell {
    Cell(std::string t, Tone tn = Tone::plain)
        : text(std::move(t)), tone(tn) {}  // NOLINT: a text is a cell
    Cell(const char* t) : text(t) {}       // NOLINT
    std::string text;
    Tone tone = Tone::plain;
  };
  explicit TextTable(std::vector<std::string> headings) : headings_(std::move(headings)) {}

  void row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // The headings, the first time, and the rows since the last time, in columns that only grow. Two
  // spaces between columns; the last one is not padded.
  std::string print(bool colour);

 private:
  std::vector<std::string> headings_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<size_t> widths_;  // as printed; empty: nothing was
};

// Standard output is a terminal that can, and NO_COLOR is not set.
bool use_colour();

// "12s", "5m", "3h", "2d": how long ago.
std::string age(int64_t unix_ms, int64_t now_unix_ms);

// Width on a terminal, of UTF-8: code points, near enough.
size_t width(const std::string& text);

}  // namespace davit::host
