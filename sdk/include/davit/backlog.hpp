// Backlog: counts how many records a reader (an agent) has not applied yet. It reads every change
// of the store once for all readers, and keeps the newest of each kind and region. The storage role
// has no slot that counts. With one read for each question, a caller that asks often could keep the
// whole pool busy.
//
// Not thread-safe: the owner needs a mutex. Memory: 24 bytes a record, for at most changes_max
// records of each kind and region.
#pragma once

#include <algorithm>
#include <deque>
#include <map>

#include "storage.hpp"

namespace davit {

class Backlog {
 public:
  // The number of records that are kept of one kind and region. For a reader that is further
  // behind, `above` returns this number.
  static constexpr size_t changes_max = 1000;

  // Reads the changes since the last refresh. Blocks. The first refresh reads the whole store.
  // `go_on` is called before each page; false ends the refresh with CANCELLED.
  Result<> refresh(const storage::Client& storage, const std::function<bool()>& go_on = {}) {
    auto head = storage.head();
    if (!head.ok()) return head.error();
    if (auto r = learn(storage, head->head); !r.ok()) return r;
    if (!judged(cursor_)) forget();
    bool again = true;  // start over once: on another history, or after a purge of unread changes
    while (cursor_ != head_) {
      if (go_on && !go_on()) return Error{Code::cancelled, "the reading was given up"};
      auto page = storage.read({{}, cursor_, {}, records_per_page, bytes_per_page},
                               [this](const davit_record& r) {
                                 add(r);
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
      cursor_ = next;
      if (page->more) continue;
      return learn(storage, page->head.head);
    }
    return {};
  }

  // Records one change. Call it in ascending version order.
  void add(const davit_record& r) {
    auto& changes = topics_[{text(r.key.kind), text(r.key.region)}];
    const size_t id = std::hash<std::string_view>{}(view(r.key.id));
    const auto older =
        std::find_if(changes.begin(), changes.end(), [id](const Change& c) { return c.id == id; });
    if (older != changes.end()) changes.erase(older);
    changes.push_back({Version(r.version), id, r.committed_at_unix_ms});
    if (changes.size() > changes_max) changes.pop_front();
  }

  // How many records of the kind and region are above the cursor. For a cursor of another history
  // it is all of them.
  uint64_t above(const std::string& kind, const std::string& region, Cursor applied) const {
    uint64_t count = 0;
    visit(kind, region, judged(applied) ? applied.version : Version(), Version::max(),
          [&count](const Change&) { ++count; });
    return count;
  }
  // When each record between the two cursors was committed, in milliseconds since 1970.
  template <class See>
  void between(const std::string& kind, const std::string& region, Cursor before, Cursor applied,
               See see) const {
    if (!judged(before) || !judged(applied)) return;
    visit(kind, region, before.version, applied.version,
          [&see](const Change& c) { see(c.committed_at_unix_ms); });
  }

 private:
  static constexpr uint32_t records_per_page = 1000;
  static constexpr uint64_t bytes_per_page = 4 << 20;

  struct Change {
    Version version;
    size_t id;  // a hash of the record's id
    int64_t committed_at_unix_ms;
  };

  // The store may be restored between two calls. So the history is read again until it ends in the
  // incarnation of the head, and cursors are judged by a history that is as new as the head.
  Result<> learn(const storage::Client& storage, Cursor head) {
    if (history_.empty() || history_.back().incarnation != head.incarnation) {
      auto history = storage.history();
      if (!history.ok()) return history.error();
      history_ = std::move(*history);
    }
    head_ = head;
    return {};
  }
  bool judged(Cursor at) const {
    if (at.incarnation == head_.incarnation) return at.version <= head_.version;
    return !at.version || knows(history_, at);
  }
  void forget() {
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

  std::map<std::pair<std::string, std::string>, std::deque<Change>> topics_;  // kind and region
  History history_;
  Cursor head_, cursor_;
};

}  // namespace davit
