#include "said.hpp"

#include <algorithm>

#include "davit/utf8.hpp"
#include "process/one_line.hpp"

namespace davit::actuator_exec {
namespace {

constexpr size_t kept_bytes_max = 64 << 10;  // of a line, before values are covered
constexpr size_t shown_bytes_max = 500;      // of a line
constexpr size_t logged_lines_max = 200;     // of a call
constexpr size_t last_lines = 5;
constexpr size_t last_bytes_max = 400;

}  // namespace

void Said::add(std::string_view piece) {
  while (!piece.empty()) {
    const size_t end = std::min(piece.find('\n'), piece.size());
    const size_t room = kept_bytes_max - std::min(begun_.size(), kept_bytes_max);
    begun_ += piece.substr(0, std::min(end, room));
    cut_ = cut_ || end > room;
    if (end == piece.size()) return;
    line();
    piece.remove_prefix(end + 1);
  }
}

void Said::end() {
  if (!begun_.empty()) line();
}

void Said::line() {
  std::string text = covers_.over(begun_);
  // The end of a line that was cut may be a part of a value.
  if (cut_) text.resize(text.size() - std::min(text.size(), covers_.longest()));
  begun_.clear();
  cut_ = false;
  text = shortened(covers_.on_one_line(text), shown_bytes_max);
  if (text.empty()) return;
  if (lines_ < logged_lines_max) log_(text);
  if (++lines_ == logged_lines_max) log_("(more lines of this call are left out)");
  last_.push_back(std::move(text));
  if (last_.size() > last_lines) last_.pop_front();
}

std::string Said::last_words() const {
  std::string out;
  for (const auto& line : last_) out += (out.empty() ? "" : "\n") + line;
  return process::one_line(out, last_bytes_max);
}

}  // namespace davit::actuator_exec
