// Encodes and decodes google.rpc.Status, in which gRPC sends the details of an error as a trailer.
// Both transports use it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "end.hpp"

namespace davit::host {

// Empty if the end has no details.
std::string status_details(const End&);
// Malformed details are left out.
std::vector<Detail> read_status_details(std::string_view);

}  // namespace davit::host
