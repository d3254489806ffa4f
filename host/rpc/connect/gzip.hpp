// gzip with a limit. Pure.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

namespace davit::host {

std::string gzip(std::string_view);
// INVALID_ARGUMENT: not gzip, cut short, or followed by something. RESOURCE_EXHAUSTED: it would be
// more than `bytes_max`, which is never exceeded on the way either.
Result<std::string> gunzip(std::string_view, size_t bytes_max);

}  // namespace davit::host
