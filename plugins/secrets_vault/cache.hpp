// Cache: values that the Vault has decrypted, by keyring and ciphertext. A ciphertext never changes
// its meaning, so an entry is right as long as it may be kept. Bounded in entries and bytes: the
// least recently used goes first. Pure; the caller passes the time, and guards it by a mutex.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "davit/secret.hpp"

namespace davit::secrets_vault {

// Stands for a keyring and a ciphertext: their SHA-256. Nobody can make two items with one key.
using ItemKey = std::array<unsigned char, 32>;
ItemKey item_key(std::string_view keyring, std::string_view ciphertext);

class Cache {
 public:
  using Time = std::chrono::nanoseconds;
  struct Limits {
    std::chrono::milliseconds lasts{60'000};  // 0: nothing is kept
    size_t entries_max = 1'000;               // 0: nothing is kept
    size_t bytes_max = 16 << 20;              // of memory: each value takes whole pages
  };
  explicit Cache(Limits limits) : limits_(limits) {}

  // Borrowed until the next call of a member; NULL: it is not there, or too old.
  const Secret* find(const ItemKey& key, Time now);
  // Copies the value. One that is larger than the whole cache is not kept.
  void put(const ItemKey& key, const Secret& value, Time now);
  // Wipes what is too old. find() does so for what it is asked for alone.
  void expire(Time now);
  size_t entries() const { return index_.size(); }
  // When expire() has something to do; Time::max(): there is nothing.
  Time next_expiry() const;

 private:
  struct Entry {
    ItemKey key;
    Secret value;
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

}  // namespace davit::secrets_vault
