// Base64 as proto3 JSON defines it. It is written in the standard alphabet with padding, and read
// in both alphabets with or without padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davit::host {

std::string base64(std::string_view bytes);
std::optional<std::string> from_base64(std::string_view text);

}  // namespace davit::host
