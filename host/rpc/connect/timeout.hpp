// Reads the timeout of a call in the notation of each protocol. grpc_timeout (request_head.hpp)
// writes it. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace davit::host {

// The longest timeout. Longer ones of gRPC are read as this one. A century is for ever, and added
// to any clock it still fits into 64 bits of nanoseconds.
inline constexpr std::chrono::milliseconds timeout_max = std::chrono::hours(24 * 365 * 100);

// connect-timeout-ms: at most ten digits. nullopt if malformed.
std::optional<std::chrono::milliseconds> read_connect_timeout(std::string_view);
// grpc-timeout: at most eight digits and a unit. Rounded up to whole milliseconds. nullopt if
// malformed.
std::optional<std::chrono::milliseconds> read_grpc_timeout(std::string_view);

}  // namespace davit::host
