// Compression with gzip, and decompression with a limit, for messages of `connect`. Pure.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

std::string gzip(std::string_view);
// INVALID_ARGUMENT if the bytes are not gzip, are cut short, or are followed by others.
// RESOURCE_EXHAUSTED if the result exceeds `bytes_max`. Never uses more than that on the way.
Result<std::string> gunzip(std::string_view, size_t bytes_max);

}  // namespace davit::host
