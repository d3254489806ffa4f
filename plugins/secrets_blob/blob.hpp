// The secrets blob of a deployment: JSON text of ctrl.v1.SecretsConfig. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

namespace davit::secrets_blob {

struct Variable {
  std::string name, ciphertext;
};

// INVALID_ARGUMENT: it is no such text; the error says where, without a ciphertext. An empty blob
// has no variables.
Result<std::vector<Variable>> read_blob(std::string_view blob, size_t variables_max);

}  // namespace davit::secrets_blob
