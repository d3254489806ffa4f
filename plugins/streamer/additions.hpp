// A cache of what one kind adds to its records for Krane's agents, as protobuf. A kind adds little,
// and adds the same to many records (for example a number of pods as bounds), so each JSON text is
// encoded once. Bounded. [any]
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include <davit/host.hpp>

namespace davit::streamer {

class Additions {
 public:
  // `type`: the message that `json` is a part of. Errors are the codec's.
  Result<std::string> encoded(const Schema& schema, const std::string& type,
                              const std::string& json);
  size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> encoded_;
  size_t bytes_ = 0;
};

}  // namespace davit::streamer
