// google.rpc.Status: how gRPC says an error's details in a trailer. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "end.hpp"

namespace davit::host {

// Empty when there are none.
std::string status_details(const End&);
// What is malformed is left out.
std::vector<Detail> read_status_details(std::string_view);

}  // namespace davit::host
