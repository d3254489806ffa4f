// The calls of one server that have not ended: who is asked, and waited for, when it goes down. Any
// thread.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "end.hpp"

namespace davit::host {

class ServedCall;

class OpenCalls {
 public:
  void add(ServedCall*);
  void remove(ServedCall*);
  size_t size() const;

  // The calls of one connection: one more until it leaves, or none, if it has `most` already.
  struct Calls {
    size_t open = 0;
    bool over = false;  // asked for more than it may have
  };
  using Connection = std::pair<const std::string, Calls>;
  struct Place {
    Connection* connection = nullptr;
    bool first_over = false;  // the connection's first call too many
  };
  Place enter(const std::string& connection, size_t most);
  void leave(Connection*);

  // A call whose plugin waits for its one request from now on, and that it has come.
  void expect(ServedCall*);
  void came(ServedCall*);
  // Ends the calls whose request has been waited for since before `since`.
  void end_late(std::chrono::steady_clock::time_point since, const End&);

  // Ends the calls whose identity was revoked. Whoever has not taken the end when this has come by
  // twice more loses the connection. Once a second.
  void end_revoked(const End&);

  void drain() { draining_.store(true, std::memory_order_release); }
  bool draining() const { return draining_.load(std::memory_order_acquire); }

  // Calls that stream answers would never end by themselves; the others are left to finish.
  void ask_streams_to_end();
  void end_all(const End&);
  // False when some are left at the deadline.
  bool wait_until_none(std::chrono::steady_clock::time_point deadline);

 private:
  template <class Which, class Each>
  void each(Which&&, Each&&);

  std::atomic<bool> draining_{false};
  mutable std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_set<ServedCall*> calls_;
  std::unordered_map<std::string, Calls> connections_;
  std::unordered_map<ServedCall*, std::chrono::steady_clock::time_point> expected_;  // since
  std::unordered_map<ServedCall*, int> revoked_;  // how often it was told
};

}  // namespace davit::host
