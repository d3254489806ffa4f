// Backlog: counts how many records a reader (an agent) has not applied yet. It reads every change
// of the store once for all readers, and keeps the newest of each kind and region. The storage role
// has no slot that counts. With one read for each question, a caller that asks often could keep the
// whole pool busy.
//
// Any thread may use it. One call reads at a time, and no lock is held meanwhile: who asks for a
// number is answered from what has been read so far. Memory: 24 bytes a record, for at most
// changes_max records of each kind and region.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>

#include "storage.hpp"

namespace davit {

class Backlog {
 public:
  // The number of records that are kept of one kind and region. For a reader that is further
  // behind, `above` returns this number.
  static constexpr size_t changes_max = 1000;

  // Reads the changes since the last refresh. Blocks. The first refresh reads the whole store.
  // `go_on` is called before each page; false ends the refresh with CANCELLED. The answer is false
  // when another call reads now: this one has read nothing.
  using GoOn = std::function<bool()>;
  Result<bool> refresh(const storage::Client& storage, const GoOn& go_on = {}) {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(reading_, true)) return false;
    }
    const auto read = read_on(storage, go_on);
    {
      const std::lock_guard lock(mutex_);
      reading_ = false;
      whole_ = whole_ || read.ok();
    }
    read_.notify_all();
    if (!read.ok()) return read.error();
    return true;
  }

  // The same, but waits for another call that reads. Once all has been read before, it waits for a
  // second at most: what is known then is hardly older.
  Result<> refresh_or_wait(const storage::Client& storage, const GoOn& go_on = {}) {
    const auto until = std::chrono::steady_clock::now() + patience;
    for (;;) {
      const auto read = refresh(storage, go_on);
      if (!read.ok()) return read.error();
      if (*read) return {};
      std::unique_lock lock(mutex_);
      while (reading_) {
        if (whole_ && std::chrono::steady_clock::now() >= until) return {};
        if (go_on && !go_on()) return given_up();
        read_.wait_for(lock, look_again);
      }
    }
  }

  // How many records of the kind and region are above the cursor. For a cursor of another history
  // it is all of them.
  uint64_t above(const std::string& kind, const std::string& region, Cursor applied) const {
    const std::lock_guard lock(mutex_);
    uint64_t count = 0;
    visit(kind, region, judged(applied) ? applied.version : Version(), Version::max(),
          [&count](const Change&) { ++count; });
    return count;
  }
  // When each record between the two cursors was committed, in milliseconds since 1970.
  template <class See>
  void between(const std::string& kind, const std::string& region, Cursor before, Cursor applied,
               See see) const {
    const std::lock_guard lock(mutex_);
    if (!judged(before) || !judged(applied)) return;
    visit(kind, region, before.version, applied.version,
          [&see](const Change& c) { see(c.committed_at_unix_ms); });
  }

 private:
  static constexpr uint32_t records_per_page = 1000;
  static constexpr uint64_t bytes_per_page = 4 << 20;

  static constexpr std::chrono::seconds patience{1};
  static constexpr std::chrono::milliseconds look_again{20};

  struct Change {
    Version version;
    size_t id;  // a hash of the record's id
    int64_t committed_at_unix_ms;
  };
  using Topic = std::pair<std::string, std::string>;  // kind and region
  using Seen = std::vector<std::pair<Topic, Change>>;

  static Error given_up() { return {Code::cancelled, "the reading was given up"}; }

  // The one call that reads is the only one that changes anything, which it does under the mutex.
  Result<> read_on(const storage::Client& storage, const GoOn& go_on) {
    auto head = storage.head();
    if (!head.ok()) return head.error();
    if (auto r = learn(storage, head->head); !r.ok()) return r;
    if (!judged(cursor_)) forget();
    bool again = true;  // start over once: on another history, or after a purge of unread changes
    while (cursor_ != head_) {
      if (go_on && !go_on()) return given_up();
      Seen seen;
      auto page = storage.read({.cursor = cursor_,
                                .limit = records_per_page,
                                .bytes_max = bytes_per_page,
                                .no_payload = true},
                               [&seen](const davit_record& r) {
                                 seen.push_back(seen_in(r));
                                 return true;
                               });
      if (!page.ok() && page.error().code == Code::out_of_range && std::exchange(again, false)) {
        forget();
        continue;
      }
      if (!page.ok()) return page.error();
      const Cursor next{page->head.head.incarnation, page->next_version};
      if (page->more && next.version <= cursor_.version) {
        return Error{Code::internal, "the storage gave a page that does not advance"};
      }
      add(seen, next);
      if (page->more) continue;
      return learn(storage, page->head.head);
    }
    return {};
  }

  static Seen::value_type seen_in(const davit_record& r) {
    return {{text(r.key.kind), text(r.key.region)},
            {Version(r.version), std::hash<std::string_view>{}(view(r.key.id)),
             r.committed_at_unix_ms}};
  }
  // The changes of one page, in the order of their versions.
  void add(const Seen& seen, Cursor next) {
    const std::lock_guard lock(mutex_);
    for (const auto& [topic, change] : seen) {
      auto& changes = topics_[topic];
      const auto older = std::find_if(changes.begin(), changes.end(),
                                      [id = change.id](const Change& c) { return c.id == id; });
      if (older != changes.end()) changes.erase(older);
      changes.push_back(change);
      if (changes.size() > changes_max) changes.pop_front();
    }
    cursor_ = next;
  }

  // The store may be restored between two calls. So the history is read again until it ends in the
  // incarnation of the head, and cursors are judged by a history that is as new as the head.
  Result<> learn(const storage::Client& storage, Cursor head) {
    History history = history_;
    if (history.empty() || history.back().incarnation != head.incarnation) {
      auto read = storage.history();
      if (!read.ok()) return read.error();
      history = std::move(*read);
    }
    const std::lock_guard lock(mutex_);
    history_ = std::move(history);
    head_ = head;
    return {};
  }
  bool judged(Cursor at) const {
    if (at.incarnation == head_.incarnation) return at.version <= head_.version;
    return !at.version || knows(history_, at);
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    topics_.clear();
    cursor_ = {};
  }
  template <class See>
  void visit(const std::string& kind, const std::string& region, Version after, Version through,
             See see) const {
    const auto topic = topics_.find({kind, region});
    if (topic == topics_.end()) return;
    auto at = std::upper_bound(topic->second.begin(), topic->second.end(), after,
                               [](Version v, const Change& c) { return v < c.version; });
    for (; at != topic->second.end() && at->version <= through; ++at) see(*at);
  }

  mutable std::mutex mutex_;
  std::condition_variable read_;  // a call has ended that has read
  bool reading_ = false;
  bool whole_ = false;  // everything has been read once
  std::map<Topic, std::deque<Change>> topics_;
  History history_;
  Cursor head_, cursor_;
};

}  // namespace davit
