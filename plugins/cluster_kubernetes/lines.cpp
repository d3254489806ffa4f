#include "lines.hpp"

#include <utility>

namespace davit::cluster_kubernetes {

void Lines::feed(std::string_view chunk, const std::function<void(std::string_view)>& line,
                 const std::function<void()>& dropped) {
  while (!chunk.empty()) {
    const size_t end = chunk.find('\n');
    std::string_view piece = chunk.substr(0, end);
    chunk.remove_prefix(end == std::string_view::npos ? chunk.size() : end + 1);
    if (partial_.size() + piece.size() > limit_) {
      dropping_ = true;
      partial_.clear();
    }
    if (end == std::string_view::npos) {
      if (!dropping_) partial_ += piece;
      return;
    }
    if (std::exchange(dropping_, false)) {
      dropped();
      continue;
    }
    if (!partial_.empty()) {
      partial_ += piece;
      piece = partial_;
    }
    if (!piece.empty()) line(piece);
    partial_.clear();
  }
}

void Lines::reset() {
  partial_.clear();
  dropping_ = false;
}

}  // namespace davit::cluster_kubernetes
