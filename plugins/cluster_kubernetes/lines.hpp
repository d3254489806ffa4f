// Splits a stream into lines. A line above the limit is dropped, so that memory is bounded whatever
// the server sends.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace davit::cluster_kubernetes {

class Lines {
 public:
  explicit Lines(size_t limit) : limit_(limit) {}

  // Calls `line` for each complete line, without its newline and except for empty ones. Calls
  // `dropped` for each line that was too long.
  void feed(std::string_view chunk, const std::function<void(std::string_view)>& line,
            const std::function<void()>& dropped);
  // Forgets an incomplete line, because the stream has ended.
  void reset();

 private:
  const size_t limit_;
  std::string partial_;
  bool dropping_ = false;
};

}  // namespace davit::cluster_kubernetes
