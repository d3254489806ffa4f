// What a kind adds to its records for agents of Krane's, as protobuf. Kinds add little, and the
// same to many records (so many pods as bounds): each text is encoded once. Bounded; any thread.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>

#include <davit/host.hpp>

namespace davit::streamer {

class Additions {
 public:
  // `type`: the message that `json` is a part of. An error is what the codec says.
  Result<std::string> encoded(const Schema& schema, const std::string& type,
                              const std::string& json);
  size_t bytes() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::string> encoded_;
  size_t bytes_ = 0;
};

}  // namespace davit::streamer
