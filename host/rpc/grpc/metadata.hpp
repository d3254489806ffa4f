// Headers and trailers, and gRPC's statuses. gRPC ends the process when it is handed a header that
// cannot be sent, so everything that comes from a plugin goes through here.
#pragma once

#include <grpcpp/support/status.h>
#include <grpcpp/support/string_ref.h>

#include <map>
#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "../end.hpp"

namespace davit::host {

// Printable ASCII, but for binary headers. gRPC itself checks only what it sends.
bool is_legal(std::string_view key, std::string_view value);
bool can_be_sent(const std::string& key, const std::string& value);

grpc::Status to_grpc(const End&);
Code from_grpc(grpc::StatusCode);

using GrpcMetadata = std::multimap<grpc::string_ref, grpc::string_ref>;
inline std::string_view view(grpc::string_ref s) {
  return {s.data(), s.size()};
}
Pairs from_grpc(const GrpcMetadata&);

// The time from now to a deadline of the host's monotonic clock, as gRPC's clock has it.
std::chrono::system_clock::time_point to_grpc_deadline(int64_t monotonic_ns);

}  // namespace davit::host
