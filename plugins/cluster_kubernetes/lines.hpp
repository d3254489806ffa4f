// Cuts a stream into lines. A line above the limit is dropped whole and counted: memory stays
// bounded whatever the peer sends.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace davit::cluster_kubernetes {

class Lines {
 public:
  explicit Lines(size_t limit) : limit_(limit) {}

  // Calls `line` for each that became complete (without its newline; empty ones are left out),
  // `dropped` for each that was too long.
  void feed(std::string_view chunk, const std::function<void(std::string_view)>& line,
            const std::function<void()>& dropped);
  // Forgets the beginning of a line: the stream ended.
  void reset();
  size_t buffered() const { return partial_.size(); }

 private:
  const size_t limit_;
  std::string partial_;
  bool dropping_ = false;
};

}  // namespace davit::cluster_kubernetes
