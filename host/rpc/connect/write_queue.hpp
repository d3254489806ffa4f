// What a method has written and what of it has not gone into the socket yet. The method's thread
// puts messages, the connection's takes all that there are at once: a stream of small messages
// costs a wake-up and a write for many of them. A peer that does not read makes it full, and then
// the method waits. Messages are held and not copied: streams that send the same one share it. Any
// thread.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

class WriteQueue {
 public:
  // There is room below `bytes_max`: it holds less than that and one message.
  explicit WriteQueue(size_t bytes_max) : bytes_max_(bytes_max) {}

  struct Put {
    bool first = false;  // nobody is on the way to take it
    bool room = true;    // for the next one; else `sent` or `close` says so
  };
  Put put(Buffer message) {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    waiting_bytes_ += message.size() + each;
    waiting_.push_back(std::move(message));
    full_ = waiting_bytes_ + taken_bytes_ >= bytes_max_;
    return {waiting_.size() == 1, !full_};
  }
  // They count until they are sent.
  std::vector<Buffer> take() {
    const std::lock_guard lock(mutex_);
    taken_bytes_ += std::exchange(waiting_bytes_, 0);
    return std::exchange(waiting_, {});
  }
  // All that was taken has gone. True: there is room again for a writer who was told that there is
  // none.
  bool sent() {
    const std::lock_guard lock(mutex_);
    taken_bytes_ = 0;
    return waiting_bytes_ < bytes_max_ && std::exchange(full_, false);
  }
  // What comes is dropped from now on. True: a writer waits for room.
  bool close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    std::vector<Buffer>().swap(waiting_);
    waiting_bytes_ = taken_bytes_ = 0;
    return std::exchange(full_, false);
  }

 private:
  static constexpr size_t each = 64;  // what a message takes beside its bytes

  const size_t bytes_max_;
  std::mutex mutex_;
  std::vector<Buffer> waiting_;
  size_t waiting_bytes_ = 0, taken_bytes_ = 0;
  bool full_ = false, closed_ = false;
};

}  // namespace davit::host
