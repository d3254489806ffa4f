// Reads every stored status once, page by page, each page a job of its own on the storage's pool:
// what a server must know of its statuses before it adds to them. It begins with the first who
// wants to know, or at the start of the plugin, and begins anew after a failure with the next.
#pragma once

#include <map>
#include <mutex>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

namespace davit::recorder {

class StatusScan {
 public:
  using Then = std::function<void(const Result<>&)>;
  // The greatest epoch of each region, of one page.
  using Greatest = std::map<std::string, uint64_t>;
  struct See {
    std::function<bool(uint64_t)> counts;  // whether an epoch is one; within a read of the store
    std::function<void(const Greatest&)> page;
  };

  StatusScan(Host host, storage::Client storage, Outstanding& outstanding, See see)
      : host_(host),
        storage_(std::move(storage)),
        outstanding_(outstanding),
        see_(std::move(see)) {}

  // Calls `then` when all statuses were seen, or cannot be: at once, or on a pool thread. Those who
  // wait are called in their order. Any thread.
  void after(Then then);
  // Whoever waits hears UNAVAILABLE soon.
  void stop();

 private:
  void post();
  void read();
  void end(const Result<>& result);

  Host host_;
  storage::Client storage_;
  Outstanding& outstanding_;
  See see_;
  uint64_t at_ = 0;  // of the one read that is under way

  std::mutex mutex_;
  std::vector<Then> waiting_;
  bool running_ = false, done_ = false, stopping_ = false;
};

}  // namespace davit::recorder
