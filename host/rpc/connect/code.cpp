#include "code.hpp"

#include <array>

namespace davit::host {

namespace {

struct Row {
  std::string_view name;
  int http_status;
};

// By number. Only metrics use "ok": the protocol has no name for it.
constexpr std::array<Row, 17> codes = {{
    {"ok", 200},
    {"canceled", 499},
    {"unknown", 500},
    {"invalid_argument", 400},
    {"deadline_exceeded", 504},
    {"not_found", 404},
    {"already_exists", 409},
    {"permission_denied", 403},
    {"resource_exhausted", 429},
    {"failed_precondition", 400},
    {"aborted", 409},
    {"out_of_range", 400},
    {"unimplemented", 501},
    {"internal", 500},
    {"unavailable", 503},
    {"data_loss", 500},
    {"unauthenticated", 401},
}};

const Row& row_of(Code code) {
  const auto number = static_cast<uint32_t>(code);
  return codes[number < codes.size() ? number : static_cast<uint32_t>(Code::unknown)];
}

}  // namespace

std::string_view code_name(Code code) {
  return row_of(code).name;
}

std::optional<Code> code_named(std::string_view name) {
  for (size_t number = 1; number < codes.size(); ++number) {
    if (codes[number].name == name) return static_cast<Code>(number);
  }
  return std::nullopt;
}

int http_status(Code code) {
  return row_of(code).http_status;
}

Code code_of_http(int status) {
  switch (status) {
    case 400:
      return Code::internal;
    case 401:
      return Code::unauthenticated;
    case 403:
      return Code::permission_denied;
    case 404:
      return Code::unimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return Code::unavailable;
    default:
      return Code::unknown;
  }
}

}  // namespace davit::host
