// Points in time as Kubernetes writes them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace davit::kubernetes {

// Unix milliseconds of an RFC 3339 text ("2026-01-01T00:00:00Z"); nullopt: it is none.
std::optional<int64_t> unix_ms_of(std::string_view text);
// "2026-01-01T00:00:00Z", in whole seconds, rounded down.
std::string time_text(int64_t unix_ms);

}  // namespace davit::kubernetes
