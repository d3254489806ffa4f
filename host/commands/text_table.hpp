// Columns that line up, colour when somebody looks at a terminal, and no more columns than it has.
// Pure but for use_colour() and terminal_columns().
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
  struct Heading {
    Heading(std::string t, int s = 0) : text(std::move(t)), spare(s) {}  // NOLINT: as above
    Heading(const char* t, int s = 0) : text(t), spare(s) {}             // NOLINT
    std::string text;
    int spare;  // left out when there is no room: 1 first, then 2, ...; 0 never
  };
  // What the last column does with a text that has no room, as others are cut: goes on below.
  enum class Last { cut, wrapped };

  explicit TextTable(std::vector<Heading> headings, Last last = Last::cut)
      : headings_(std::move(headings)), last_(last) {}

  void row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // The headings, the first time and if there are any, and the rows since the last time, in columns
  // that only grow. Two spaces between columns; the last one is not padded. `room`: no line is
  // wider, if that can be; 0: as wide as it gets.
  std::string print(bool colour, size_t room = 0);

 private:
  using Row = std::vector<Cell>;
  void measure();
  void choose(size_t room);
  std::vector<size_t> fitted(size_t room) const;
  void line(const Row& cells, const std::vector<size_t>& widths, bool colour, std::string& out);

  std::vector<Heading> headings_;
  Last last_;
  std::vector<Row> rows_;
  std::vector<size_t> widths_;  // of all columns; empty: nothing was printed
  std::vector<size_t> shown_;   // which columns are
};

// Standard output is a terminal that can, and NO_COLOR is not set.
bool use_colour();
// Of the terminal that standard output is; 0: it is none.
size_t terminal_columns();

// "12s", "5m", "3h", "2d": how long ago.
std::string age(int64_t unix_ms, int64_t now_unix_ms);

// Width on a terminal, of UTF-8: code points, near enough.
size_t width(const std::string& text);

// In lines of `room` letters at most, which end at spaces where they can.
std::vector<std::string> wrapped(std::string text, size_t room);

// Without what could move the cursor or hide a line: control characters, of C0 and C1, are spaces.
// For whatever others have said: agents, servers, documents.
std::string harmless(std::string text);

}  // namespace davit::host
