// WriteQueue holds the messages that a method has written and that have not gone into the socket.
// The method's thread puts messages; the connection's thread takes all of them at once, so many
// small messages cost one wake-up and one write. If the peer does not read, the queue fills and the
// method waits. Messages are held, not copied: streams that send the same one share it.
// ConnectServedCall has one. Any thread.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

class WriteQueue {
 public:
  // There is room while less than `bytes_max` waits. So the queue holds less than that plus one
  // message.
  explicit WriteQueue(size_t bytes_max) : bytes_max_(bytes_max) {}

  struct Put {
    bool first = false;  // the connection's thread must be told to take it
    bool room = true;    // for the next one; if false, `sent` or `close` reports when
  };
  Put put(Buffer message) {
    const std::lock_guard lock(mutex_);
    if (closed_) return {};
    waiting_bytes_ += message.size() + each;
    waiting_.push_back(std::move(message));
    full_ = waiting_bytes_ + taken_bytes_ >= bytes_max_;
    return {waiting_.size() == 1, !full_};
  }
  // Takes all messages. They count until `sent`.
  std::vector<Buffer> take() {
    const std::lock_guard lock(mutex_);
    taken_bytes_ += std::exchange(waiting_bytes_, 0);
    return std::exchange(waiting_, {});
  }
  // All taken messages have gone out. True if a writer that was told to wait now has room.
  bool sent() {
    const std::lock_guard lock(mutex_);
    taken_bytes_ = 0;
    return waiting_bytes_ < bytes_max_ && std::exchange(full_, false);
  }
  // Drops all messages from now on. True if a writer waits for room.
  bool close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    std::vector<Buffer>().swap(waiting_);
    waiting_bytes_ = taken_bytes_ = 0;
    return std::exchange(full_, false);
  }

 private:
  static constexpr size_t each = 64;  // what a message takes in addition to its bytes

  const size_t bytes_max_;
  std::mutex mutex_;
  std::vector<Buffer> waiting_;
  size_t waiting_bytes_ = 0, taken_bytes_ = 0;
  bool full_ = false, closed_ = false;
};

}  // namespace davit::host
