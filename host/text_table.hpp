// Prints aligned columns, with colour on a terminal, and no wider than the terminal if possible.
// Pure, except for use_colour() and terminal_columns().
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
    int spare;  // order of leaving out when there is no room: 1 first, then 2, ...; 0: never
  };
  // How the last column treats a text without room: it cuts it like other columns, or continues it
  // below.
  enum class Last { cut, wrapped };

  explicit TextTable(std::vector<Heading> headings, Last last = Last::cut)
      : headings_(std::move(headings)), last_(last) {}

  void row(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Prints the rows that were added since the last call, and the first time the headings if there
  // are any. Columns only grow from call to call. Two spaces separate columns; the last one is not
  // padded. `room`: lines are no wider, if possible; 0: no limit.
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
  std::vector<size_t> widths_;  // of all columns; empty: nothing has been printed
  std::vector<size_t> shown_;   // indexes of the columns that are shown
};

// True if standard output is a terminal with colours and NO_COLOR is not set.
bool use_colour();
// The width of the terminal on standard output; 0: it is no terminal.
size_t terminal_columns();

// How long ago: "12s", "5m", "3h", "2d".
std::string age(int64_t unix_ms, int64_t now_unix_ms);

// The width of a UTF-8 text on a terminal: the number of code points, which is near enough.
size_t width(const std::string& text);

// Splits a text into lines of at most `room` letters, at spaces where possible.
std::vector<std::string> wrapped(std::string text, size_t room);

// Replaces characters that could move the cursor or hide a line, which are the control characters
// of C0 and C1, by spaces. For texts from agents, servers and documents.
std::string harmless(std::string text);

}  // namespace davit::host
