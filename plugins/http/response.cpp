#include <algorithm>

#include "client.hpp"

namespace davit::http {

std::string_view Response::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

std::optional<Error> busy(const Response& response) {
  constexpr int later[] = {429, 502, 503, 504};
  if (std::find(std::begin(later), std::end(later), response.status) == std::end(later))
    return std::nullopt;
  return Error{Code::unavailable,
               "the server answers " + std::to_string(response.status) + ": try again later",
               {},
               response.retry_after};
}

}  // namespace davit::http
