// What the naive store has. It can be copied, so a copy of it is a backup.
#pragma once

#include <map>
#include <random>
#include <set>
#include <thread>

#include "davit/storage.hpp"

namespace davit::storage_naive {

struct Contents {
  // An incarnation, and the first versions that it may give.
  struct Link {
    Incarnation incarnation;
    Version first_version, first_status_version;
  };
  using First = Version Link::*;
  std::vector<Link> chain_{{draw(), Version(1), Version(1)}};  // the oldest first, never empty
  Version head_, status_head_, purged_;
  std::map<Key, Record> records_;
  std::map<Version, Key> versions_;
  std::set<Key> hidden_;  // deleted records whose names other records have
  std::map<std::string, Version> requests_;
  std::map<Key, Status> statuses_;
  std::map<std::pair<std::string, std::string>, Progress> agents_;

  // Every real database has a pause between taking a number and committing it.
  static void dither() {
    thread_local std::mt19937 random(std::random_device{}());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 3000));
  }
  static std::optional<Error> check(const Group& group) {
    std::set<Key> keys;
    for (const auto& m : group.mutations) keys.insert(m.record.key);
    if (keys.empty() || keys.size() != group.mutations.size()) {
      return Error{Code::invalid_argument, "not a group"};
    }
    return std::nullopt;
  }

  // An incarnation, which has all 64 bits. Not of the host's randomness: a test repeats that.
  static Incarnation draw() {
    std::random_device device;
    return Incarnation(uint64_t{1} << 63 | uint64_t{device()} << 31 | device());
  }
  // Of the machine: the store may live longer than an instance and its host.
  static int64_t unix_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
  Incarnation incarnation() const { return chain_.back().incarnation; }
  // Where a link of the chain ended. `head` is the newest version of that counter.
  Version end_of(size_t i, First first, Version head) const {
    return i + 1 < chain_.size() ? chain_[i + 1].*first - 1 : head;
  }
  // The number of the link. chain_.size(): the chain does not have it.
  size_t link(Incarnation incarnation) const {
    size_t i = 0;
    while (i < chain_.size() && chain_[i].incarnation != incarnation) ++i;
    return i;
  }
};

}  // namespace davit::storage_naive
