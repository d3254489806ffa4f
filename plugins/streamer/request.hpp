// Parses the requests of watches and point queries. Errors are INVALID_ARGUMENT, and UNIMPLEMENTED
// for what a later version may serve. Pure.
#pragma once

#include <davit/types.hpp>

#include "stream.hpp"

namespace davit::streamer {

// davit.v1.WatchRequest.
Result<std::vector<Stream::Subscription>> parse_watch(std::string_view request,
                                                      const std::string& region);

// True: the peer is a Davit agent on ctrl.v1. It says so in a header, which Krane's server ignores.
// A Davit agent parks what it cannot apply, so it gets the records unchanged.
inline bool is_davit(const rpc::Call& call) {
  return !call.metadata("x-davit-agent").empty();
}

// The watch requests of all kinds on ctrl.v1 have the same fields: 1 region (the header states it,
// so the field is ignored), 2 version_last_seen.
Result<std::vector<Stream::Subscription>> parse_ctrl_watch(const std::string& kind,
                                                           std::string_view request,
                                                           const std::string& region);

// The point queries of all kinds on ctrl.v1 have the same field: 1 id.
Result<std::string> parse_ctrl_get(std::string_view request);

}  // namespace davit::streamer
