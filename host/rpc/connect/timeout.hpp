// How long a caller waits, as the protocols write it. Pure. What a caller sends: grpc_timeout
// (request_head.hpp).
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace davit::host {

// The longest that is read; what gRPC has longer is as this. A century is for ever, and added to
// any clock it is still a number of nanoseconds.
inline constexpr std::chrono::milliseconds timeout_max = std::chrono::hours(24 * 365 * 100);

// connect-timeout-ms: at most ten digits. nullopt: it is not.
std::optional<std::chrono::milliseconds> read_connect_timeout(std::string_view);
// grpc-timeout: at most eight digits and a unit; what is no whole millisecond is rounded up.
std::optional<std::chrono::milliseconds> read_grpc_timeout(std::string_view);

}  // namespace davit::host
