// Counts the regions that are watched with tokens of every region ("*"). A region exists when a
// credential names it, and such a token names any text. Without a limit (regions_max) its holder
// could make the server keep any number of regions. [any]
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include <davit/rpc.hpp>

namespace davit::streamer {

class Regions {
 public:
  explicit Regions(size_t max) : max_(max) {}

  // An error when the name cannot stand in a log line, a header and a file name.
  static Result<> usable(const std::string& region) {
    constexpr size_t bytes_max = DAVIT_REGION_BYTES_MAX;
    const bool odd = std::any_of(region.begin(), region.end(),
                                 [](unsigned char c) { return c <= ' ' || c == 0x7f; });
    if (region.size() <= bytes_max && !odd) return {};
    return Error{Code::invalid_argument,
                 "a region has at most " + std::to_string(bytes_max) +
                     " bytes, no space and no control character",
                 "region"};
  }
  // True: the caller's token names the region itself, so the region is not counted.
  static bool named(const rpc::Identity& caller, const std::string& region) {
    return std::find(caller.regions.begin(), caller.regions.end(), region) != caller.regions.end();
  }
  // False: too many other regions are watched. Each enter() that succeeds needs one leave().
  bool enter(const std::string& region) {
    const std::lock_guard lock(mutex_);
    const auto it = watches_.find(region);
    if (it == watches_.end() && watches_.size() >= max_) return false;
    ++watches_[region];
    return true;
  }
  void leave(const std::string& region) {
    const std::lock_guard lock(mutex_);
    const auto it = watches_.find(region);
    if (it != watches_.end() && --it->second == 0) watches_.erase(it);
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return watches_.size();
  }

 private:
  const size_t max_;
  mutable std::mutex mutex_;
  std::map<std::string, size_t> watches_;
};

}  // namespace davit::streamer
