// The answer of DecryptSecretsBlob as bytes. They are written by hand, because a protobuf library
// would leave copies of the plaintexts in memory that nobody wipes. Pure.
#pragma once

#include <vector>

#include <davit/secrets.hpp>

#include "blob.hpp"

namespace davit::secrets_blob {

// A DecryptSecretsBlobResponse. There is a value for each variable, and it is UTF-8. The memory is
// overwritten when the last reference to the buffer has gone.
Buffer encode_answer(const std::vector<Variable>& variables, const secrets::Results& values);

}  // namespace davit::secrets_blob
