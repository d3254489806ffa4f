// Places limits how many calls are open at once, in all and of one caller: an address, later a
// namespace. The last half of the places is for callers that have none. So whoever fills the rest
// keeps nobody out who asks for one thing at a time. Pure: its user locks it.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>

namespace davit::secrets_blob {

class Places {
 public:
  enum class Verdict { in, full, caller_full };

  Places(size_t most, size_t of_one) : most_(most), of_one_(of_one) {}

  // With `in` the place is taken until `leave`. The other results change nothing.
  Verdict enter(const std::string& caller) {
    const auto known = callers_.find(caller);
    const size_t taken = known == callers_.end() ? 0 : known->second;
    if (taken >= of_one_) return Verdict::caller_full;
    if (size_ >= (taken == 0 ? most_ : most_ / 2)) return Verdict::full;
    ++callers_[caller];
    ++size_;
    return Verdict::in;
  }
  void leave(const std::string& caller) {
    const auto known = callers_.find(caller);
    if (known == callers_.end()) return;
    --size_;
    if (--known->second == 0) callers_.erase(known);
  }
  size_t size() const { return size_; }

 private:
  const size_t most_, of_one_;
  size_t size_ = 0;
  std::unordered_map<std::string, size_t> callers_;
};

}  // namespace davit::secrets_blob
