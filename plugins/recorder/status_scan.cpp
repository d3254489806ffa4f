#include "status_scan.hpp"

namespace davit::recorder {

namespace {
constexpr uint32_t statuses_per_page = 1000;
constexpr uint64_t bytes_per_page = 4 << 20;
}  // namespace

void StatusScan::after(Then then) {
  {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      waiting_.push_back(std::move(then));
      if (!std::exchange(running_, true)) post();
      return;
    }
  }
  then({});
}

void StatusScan::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
}

void StatusScan::post() {
  host_.blocking(storage_.instance(), [this, ticket = outstanding_.begin()] { read(); });
}

void StatusScan::read() {
  bool stopping = false;
  {
    const std::lock_guard lock(mutex_);
    stopping = stopping_;
  }
  if (stopping) return end(shutting_down());
  Greatest greatest;
  const auto page =
      storage_.statuses({{}, at_, statuses_per_page, bytes_per_page}, [&](const davit_status& s) {
        const Epoch epoch(s.epoch);
        if (see_.counts(epoch)) {
          Epoch& found = greatest[text(s.key.region)];
          found = std::max(found, epoch);
        }
        return true;
      });
  if (!page.ok() && page.error().code == Code::out_of_range && at_.version) {
    at_ = {};  // the store's history changed meanwhile
    return post();
  }
  if (!page.ok()) return end(page.error());
  see_.page(greatest);
  const bool more = page->more && page->next.version > at_.version;
  at_ = page->next;
  if (more) return post();
  end({});
}

void StatusScan::end(const Result<>& result) {
  std::vector<Then> waiting;
  {
    const std::lock_guard lock(mutex_);
    done_ = result.ok();
    running_ = false;
    waiting.swap(waiting_);
  }
  for (const Then& then : waiting) then(result);
}

}  // namespace davit::recorder
