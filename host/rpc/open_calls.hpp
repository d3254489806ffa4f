// OpenCalls lists the calls of one server that have not ended. The server asks or forces them to
// end when it shuts down, when a token is revoked, or when a request is late. Any thread.
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

  // How many calls a connection has open. `enter` counts one more until `leave`. It counts none if
  // the connection already has `most`.
  struct Calls {
    size_t open = 0;
    bool over = false;  // the connection asked for more than `most`
  };
  using Connection = std::pair<const std::string, Calls>;
  struct Place {
    Connection* connection = nullptr;
    bool first_over = false;  // the first call beyond the limit
  };
  Place enter(const std::string& connection, size_t most);
  void leave(Connection*);

  // `expect`: the plugin waits for the call's one request from now on. `arrived`: the request is
  // there.
  void expect(ServedCall*);
  void arrived(ServedCall*);
  // Ends the calls whose plugins have waited for the request since before `since`.
  void end_late(std::chrono::steady_clock::time_point since, const End&);

  // Ends the calls whose identity was revoked. Call it once a second. If a call is still open at
  // the third time, its connection is closed.
  void end_revoked(const End&);

  void drain() { draining_.store(true, std::memory_order_release); }
  bool draining() const { return draining_.load(std::memory_order_acquire); }

  // Asks the calls that stream answers to end, because they would never end by themselves. The
  // others are left to finish.
  void ask_streams_to_end();
  void end_all(const End&);
  // Waits until no call is left. False if some are left at the deadline.
  bool wait_until_none(std::chrono::steady_clock::time_point deadline);

 private:
  template <class Which, class Each>
  void each(Which&&, Each&&);

  std::atomic<bool> draining_{false};
  mutable std::mutex mutex_;
  std::condition_variable none_;
  std::unordered_set<ServedCall*> calls_;
  std::unordered_map<std::string, Calls> connections_;
  std::unordered_map<ServedCall*, std::chrono::steady_clock::time_point> expected_;  // since when
  std::unordered_map<ServedCall*, int> revoked_;  // how often its end was tried
};

}  // namespace davit::host
