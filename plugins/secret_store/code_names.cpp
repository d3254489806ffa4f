#include "code_names.hpp"

namespace davit::secret_store {
namespace {

struct Named {
  Code code;
  const char* name;
};
constexpr Named names[] = {
    {Code::cancelled, "canceled"},
    {Code::unknown, "unknown"},
    {Code::invalid_argument, "invalid_argument"},
    {Code::deadline_exceeded, "deadline_exceeded"},
    {Code::not_found, "not_found"},
    {Code::already_exists, "already_exists"},
    {Code::permission_denied, "permission_denied"},
    {Code::resource_exhausted, "resource_exhausted"},
    {Code::failed_precondition, "failed_precondition"},
    {Code::aborted, "aborted"},
    {Code::out_of_range, "out_of_range"},
    {Code::unimplemented, "unimplemented"},
    {Code::internal, "internal"},
    {Code::unavailable, "unavailable"},
    {Code::data_loss, "data_loss"},
    {Code::unauthenticated, "unauthenticated"},
};

}  // namespace

const char* code_name(Code code) {
  for (const Named& named : names) {
    if (named.code == code) return named.name;
  }
  return "ok";
}

std::optional<Code> code_named(std::string_view name) {
  for (const Named& named : names) {
    if (named.name == name) return named.code;
  }
  return std::nullopt;
}

}  // namespace davit::secret_store
