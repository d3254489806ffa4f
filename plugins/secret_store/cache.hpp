// Cache: values that a Vault has given, by what was asked for. A ciphertext never changes its
// meaning, so its entry is right as long as it may be kept. Bounded in entries and bytes: the
// least recently used goes first. Pure; the caller passes the time, and guards it by a mutex.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <string>
#include <unordered_map>

#include "davit/secret.hpp"

namespace davit::secret_store {

// Stands for a group, such as a keyring, and a text of it: their SHA-256. Nobody can make two items
// with one key.
using ItemKey = std::array<unsigned char, 32>;
ItemKey item_key(std::string_view group, std::string_view text);

class Cache {
 public:
  using Time = std::chrono::nanoseconds;
  struct Limits {
    std::chrono::milliseconds lasts{60'000};  // 0: nothing is kept
    size_t entries_max = 1'000;               // 0: nothing is kept
    size_t bytes_max = 16 << 20;              // of memory: each value takes whole pages
  };
  explicit Cache(Limits limits) : limits_(limits) {}

  struct Kept {
    Secret value;
    std::string version;  // empty: the store has none
  };
  // Borrowed until the next call of a member; NULL: it is not there, or too old.
  const Kept* find(const ItemKey& key, Time now);
  // Copies the value. One that is larger than the whole cache is not kept.
  void put(const ItemKey& key, const Secret& value, Time now, const std::string& version = {});
  // Wipes what is too old. find() does so for what it is asked for alone.
  void expire(Time now);
  size_t entries() const { return index_.size(); }
  // When expire() has something to do; Time::max(): there is nothing.
  Time next_expiry() const;

 private:
  struct Entry {
    ItemKey key;
    Kept kept;
    Time until;
    size_t bytes;
  };
  using Entries = std::list<Entry>;
  struct Hash {
    size_t operator()(const ItemKey& key) const;
  };
  void drop(Entries::iterator entry);

  const Limits limits_;
  Entries entries_;  // the least recently used first
  std::unordered_map<ItemKey, Entries::iterator, Hash> index_;
  size_t bytes_ = 0;
};

}  // namespace davit::secret_store
