#include "cache.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <memory>

namespace davit::secret_store {
namespace {

// What a Secret takes.
size_t memory_of(size_t bytes) {
  static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return std::max<size_t>(1, (bytes + page - 1) / page) * page;
}

}  // namespace

ItemKey item_key(std::string_view group, std::string_view text) {
  const std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> hash(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  // The length tells where the group ends.
  const uint64_t length = group.size();
  ItemKey out{};
  unsigned int size = 0;
  const bool done = hash && EVP_DigestInit_ex(hash.get(), EVP_sha256(), nullptr) == 1 &&
                    EVP_DigestUpdate(hash.get(), &length, sizeof length) == 1 &&
                    EVP_DigestUpdate(hash.get(), group.data(), group.size()) == 1 &&
                    EVP_DigestUpdate(hash.get(), text.data(), text.size()) == 1 &&
                    EVP_DigestFinal_ex(hash.get(), out.data(), &size) == 1 && size == out.size();
  if (!done) throw std::bad_alloc();
  return out;
}

size_t Cache::Hash::operator()(const ItemKey& key) const {
  size_t out = 0;
  std::memcpy(&out, key.data(), sizeof out);
  return out;
}

const Cache::Kept* Cache::find(const ItemKey& key, Time now) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  if (found->second->until <= now) {
    drop(found->second);
    return nullptr;
  }
  entries_.splice(entries_.end(), entries_, found->second);
  return &found->second->kept;
}

void Cache::put(const ItemKey& key, const Secret& value, Time now, const std::string& version) {
  const size_t bytes = memory_of(value.size());
  if (limits_.lasts.count() == 0 || limits_.entries_max == 0 || bytes > limits_.bytes_max) return;
  if (const auto found = index_.find(key); found != index_.end()) drop(found->second);
  while (!entries_.empty() &&
         (entries_.size() >= limits_.entries_max || bytes_ + bytes > limits_.bytes_max))
    drop(entries_.begin());
  entries_.push_back({key, {Secret(value.view()), version}, now + limits_.lasts, bytes});
  index_[key] = std::prev(entries_.end());
  bytes_ += bytes;
}

void Cache::expire(Time now) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    if (entry->until <= now) drop(entry);
    entry = next;
  }
}

Cache::Time Cache::next_expiry() const {
  Time out = Time::max();
  for (const Entry& entry : entries_) out = std::min(out, entry.until);
  return out;
}

void Cache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  index_.erase(entry->key);
  entries_.erase(entry);
}

}  // namespace davit::secret_store
