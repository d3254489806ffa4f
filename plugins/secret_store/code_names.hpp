// The names of codes, as gRPC and Connect write them: "not_found". Metrics have them, too.
#pragma once

#include <optional>
#include <string_view>

#include "davit/types.hpp"

namespace davit::secret_store {

const char* code_name(Code code);
// Empty: no code is called so. OK has no name.
std::optional<Code> code_named(std::string_view name);

}  // namespace davit::secret_store
