// Reads every stored status once, page by page, to learn the epochs that a server must know before
// it gives epochs itself. Each page is a job of its own on the storage's pool. The scan begins with
// the first call of after(), at the plugin's start. After a failure the next call of after()
// continues it from the page that failed.
#pragma once

#include <map>
#include <mutex>

#include <davit/outstanding.hpp>
#include <davit/storage.hpp>

namespace davit::recorder {

class StatusScan {
 public:
  using Then = std::function<void(const Result<>&)>;
  // The greatest epoch of each region in one page.
  using Greatest = std::map<std::string, Epoch>;
  struct See {
    std::function<bool(Epoch)> counts;  // is the epoch plausible? within a read of the store
    std::function<void(const Greatest&)> page;  // takes the result of a page
  };

  StatusScan(Host host, storage::Client storage, Outstanding& outstanding, See see)
      : host_(host),
        storage_(std::move(storage)),
        outstanding_(outstanding),
        see_(std::move(see)) {}

  // Calls `then` when all statuses have been read, or with the error of a read: at once, or on a
  // pool thread. Waiting calls are answered in their order. [any]
  void after(Then then);
  // Waiting calls get UNAVAILABLE soon.
  void stop();

 private:
  void post();
  void read();
  void end(const Result<>& result);

  Host host_;
  storage::Client storage_;
  Outstanding& outstanding_;
  See see_;
  Cursor at_;  // position of the next page; used only by the one read in progress

  std::mutex mutex_;
  std::vector<Then> waiting_;
  bool running_ = false, done_ = false, stopping_ = false;
};

}  // namespace davit::recorder
