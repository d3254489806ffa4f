// How many of something there may be at once, in all and of one address: connections of a listener,
// watches of callers that are not known, calls (of one credential at one address). Plain: whoever
// uses it from several threads locks it.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace davit::host {

class Quota {
 public:
  enum class Verdict { in, full, address_full };

  Quota(size_t most, size_t of_one_address) : most_(most), of_one_address_(of_one_address) {}

  // `in`: it counts until it leaves. The others leave nothing behind.
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
  // Of one that was let in.
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
