// Quota limits how many of something exist at once, in all and for each address: connections of a
// listener, health watches of callers without a token, and calls (of one credential at one
// address). Plain: users on several threads must lock it.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace davit::host {

class Quota {
 public:
  enum class Verdict { in, full, address_full };

  Quota(size_t most, size_t of_one_address) : most_(most), of_one_address_(of_one_address) {}

  // With `in` the entry counts until `leave`. The other results change nothing.
  Verdict enter(const std::string& address) {
    if (size_ >= most_) return Verdict::full;
    const auto at = addresses_.try_emplace(address, 0).first;
    if (at->second >= of_one_address_) {
      if (at->second == 0) addresses_.erase(at);
      return Verdict::address_full;
    }
    ++at->second;
    ++size_;
    return Verdict::in;
  }
  bool has_room(const std::string& address) const {
    const auto at = addresses_.find(address);
    return size_ < most_ && (at == addresses_.end() ? 0 : at->second) < of_one_address_;
  }
  // Ends one entry that got `in`.
  void leave(const std::string& address) {
    const auto at = addresses_.find(address);
    if (at == addresses_.end()) return;
    --size_;
    if (--at->second == 0) addresses_.erase(at);
  }
  size_t size() const { return size_; }
  size_t addresses() const { return addresses_.size(); }

 private:
  const size_t most_, of_one_address_;
  size_t size_ = 0;
  std::unordered_map<std::string, size_t> addresses_;
};

}  // namespace davit::host
