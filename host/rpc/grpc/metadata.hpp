// Converts headers, trailers, statuses and deadlines between the host and gRPC. gRPC ends the
// process when it is given a header that cannot be sent, so all headers of plugins are checked
// here.
#pragma once

#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "../end.hpp"

namespace davit::host {

// Whether a header is legal: printable ASCII, except for the values of binary headers. gRPC itself
// checks only what it sends.
bool is_legal(std::string_view key, std::string_view value);
bool can_be_sent(const std::string& key, const std::string& value);

grpc::Status to_grpc(const End&);
Code from_grpc(grpc::StatusCode);

using GrpcMetadata = std::multimap<grpc::string_ref, grpc::string_ref>;
inline std::string_view view(grpc::string_ref s) {
  return {s.data(), s.size()};
}
Pairs from_grpc(const GrpcMetadata&);

// The point of gRPC's clock that corresponds to a deadline of the host's monotonic clock.
std::chrono::system_clock::time_point to_grpc_deadline(int64_t monotonic_ns);

}  // namespace davit::host
