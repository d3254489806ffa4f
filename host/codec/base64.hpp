// Base64 as proto3 JSON has it: written with the standard alphabet and padding, read in either
// alphabet with or without.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davit::host {

std::string base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace davit::host
