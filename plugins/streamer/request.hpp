// Reads what peers ask for. Pure.
#pragma once

#include <davit/types.hpp>

#include "stream.hpp"

namespace davit::streamer {

// davit.v1.WatchRequest.
Result<std::vector<Stream::Subscription>> parse_watch(std::string_view request,
                                                      const std::string& region);

// An agent of ours on ctrl.v1 says so in a header, which Krane's server ignores. It parks what it
// cannot apply, so it is told records as they are.
inline bool is_davit(const rpc::Call& call) {
  return !call.metadata("x-davit-agent").empty();
}

// The watch requests of ctrl.v1 have one shape: 1 region (which the header states), 2
// version_last_seen.
Result<std::vector<Stream::Subscription>> parse_ctrl_watch(const std::string& kind,
                                                           std::string_view request,
                                                           const std::string& region);

// The point queries of ctrl.v1 have one shape, too: 1 id.
Result<std::string> parse_ctrl_get(std::string_view request);

}  // namespace davit::streamer
