// What waits on a server because a kind has said "try again" (abi/kind.h). The streamer notes the
// records that it cannot classify, and the recorder the reports that it cannot read. The plugin
// `desired` shows both as delayed, with the kind's reason and since when. Each of them keeps its
// own Delays and offers them by a table that only plugins know:
//
//   using roles = davit::Roles<davit::DelaysRole>;
//   std::vector<davit::Delay> delays() const;
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "lookup.hpp"
#include "plugin.hpp"
#include "records.hpp"

extern "C" {

typedef struct davit_delay {
  uint32_t struct_size;
  uint32_t reserved;
  davit_key key;
  davit_str stage, reason;
  uint64_t version;
  int64_t since_unix_ms;
} davit_delay;

#define DAVIT_DELAYS "server.delays/1"
typedef struct davit_delays {
  uint32_t struct_size;
  uint32_t reserved;
  /* Visits what is delayed now. Does not block. [any] */
  void (*visit)(davit_instance*, void* ctx, void (*visit)(void* ctx, const davit_delay*));
} davit_delays;
}

namespace davit {

struct Delay {
  // What waits.
  static constexpr const char* stream = "stream";    // the record, and what comes after it
  static constexpr const char* ctrl_v1 = "ctrl.v1";  // the same, to agents of that wire only
  static constexpr const char* report = "report";    // reports of the record

  Key key;  // without an id: of some record of the kind and region
  std::string stage;
  Version version{};   // of the record; 0: not known
  std::string reason;  // "kind widget: its process is starting"
  int64_t since_unix_ms = 0;
};

// Bounded. [any]
class Delays {
 public:
  // What is not noted again for this long has ended: nobody asks the kind about it any more.
  explicit Delays(std::chrono::milliseconds lasts) : lasts_(lasts) {}

  // The kind cannot answer. Returns since when this is so.
  int64_t note(const Key& key, const std::string& stage, Version version, const std::string& reason,
               int64_t now_unix_ms) {
    const std::lock_guard lock(mutex_);
    auto found = entries_.find({key, stage});
    if (found != entries_.end() && is_over(found->second, now_unix_ms)) {
      entries_.erase(found);
      found = entries_.end();
    }
    if (found == entries_.end()) {
      if (entries_.size() >= most) forget(now_unix_ms);
      if (entries_.size() >= most) return now_unix_ms;
      found = entries_.try_emplace({key, stage}, Entry{0, {}, now_unix_ms, 0}).first;
    }
    Entry& entry = found->second;
    if (version >= entry.version) {
      entry.version = version;
      entry.reason = reason;
    }
    entry.noted_unix_ms = now_unix_ms;
    any_ = true;
    return entry.since_unix_ms;
  }
  // The kind has answered about this version or a later one; or there is nothing to ask any more.
  void over(const Key& key, const std::string& stage, Version version = Version::max()) {
    if (!any_) return;
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find({key, stage});
    if (found == entries_.end() || found->second.version > version) return;
    entries_.erase(found);
    any_ = !entries_.empty();
  }

  std::vector<Delay> all(int64_t now_unix_ms) const {
    const std::lock_guard lock(mutex_);
    std::vector<Delay> out;
    for (const auto& [at, entry] : entries_) {
      if (is_over(entry, now_unix_ms)) continue;
      out.push_back({at.first, at.second, entry.version, entry.reason, entry.since_unix_ms});
    }
    return out;
  }
  // Some of those that were not noted since then.
  std::vector<Key> unasked(const std::string& stage, int64_t since_unix_ms, size_t at_most) const {
    std::vector<Key> out;
    if (!any_) return out;
    const std::lock_guard lock(mutex_);
    for (const auto& [at, entry] : entries_) {
      if (at.second == stage && entry.noted_unix_ms < since_unix_ms && out.size() < at_most)
        out.push_back(at.first);
    }
    return out;
  }

 private:
  static constexpr size_t most = 1000;
  struct Entry {
    Version version;
    std::string reason;
    int64_t since_unix_ms, noted_unix_ms;
  };
  bool is_over(const Entry& entry, int64_t now_unix_ms) const {
    return now_unix_ms - entry.noted_unix_ms > lasts_.count();
  }
  void forget(int64_t now_unix_ms) {
    std::erase_if(entries_, [&](const auto& e) { return is_over(e.second, now_unix_ms); });
  }

  const std::chrono::milliseconds lasts_;
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::map<std::pair<Key, std::string>, Entry> entries_;  // by key and stage
};

struct DelaysRole {
  static constexpr std::string_view id = DAVIT_DELAYS;

  template <class T>
  static const void* vtable() {
    static const davit_delays table = {
        sizeof(davit_delays), 0,
        [](davit_instance* i, void* ctx, void (*visit)(void*, const davit_delay*)) {
          must_not_throw("davit_delays.visit", [&] {
            for (const Delay& d : detail::object<T>(i).delays()) {
              const davit_delay abi = {
                  sizeof abi,     0, to_abi(d.key), str(d.stage), str(d.reason), d.version.value(),
                  d.since_unix_ms};
              visit(ctx, &abi);
            }
          });
        }};
    return &table;
  }
};

// The delays of all plugins of the process. Make it in wire().
class DelaysClient {
 public:
  DelaysClient() = default;
  explicit DelaysClient(const Host& host) : refs_(each(host, DAVIT_DELAYS)) {}

  std::vector<Delay> all() const {
    std::vector<Delay> out;
    Visitor visitor([&out](const davit_delay& d) {
      out.push_back(
          {from_abi(d.key), text(d.stage), Version(d.version), text(d.reason), d.since_unix_ms});
    });
    for (const davit_ref& ref : refs_)
      static_cast<const davit_delays*>(ref.vtable)->visit(ref.self, &visitor, visitor);
    visitor.rethrow();
    return out;
  }

 private:
  std::vector<davit_ref> refs_;
};

}  // namespace davit
