// Kubernetes quantities, in the canonical form that the API server prints: what we send is then
// what we read back, and a comparison sees no drift where there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace davit::deployment {

std::string cpu_quantity(int64_t millicores);  // 1000 -> "1", 1500 -> "1500m"
std::string memory_quantity(int64_t mib);      // 1024 -> "1Gi", 1536 -> "1536Mi"

// Any form of a quantity; nothing when it is none, is negative or does not fit.
std::optional<int64_t> millicores_of(std::string_view quantity);  // rounded up
std::optional<int64_t> mib_of(std::string_view quantity);  // rounded down, as the original does

}  // namespace davit::deployment
