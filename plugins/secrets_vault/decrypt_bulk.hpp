// The messages of vault.v1.VaultService/DecryptBulk, written and read by hand: a protobuf library
// would leave copies of the plaintext in memory that nobody wipes.
//
//   message DecryptBulkRequest  { string keyring = 1; map<string, string> items = 2; }
//   message DecryptBulkResponse { map<string, string> items = 1; }
//
// The names of a call's items begin with a number of this call. So the answer to another call,
// which a proxy mixes up with it, is never taken for the answer to this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "davit/secret.hpp"
#include "davit/types.hpp"

namespace davit::secrets_vault {

// The name of the call's item `index`.
std::string item_name(uint64_t call, size_t index);

std::string encode_request(std::string_view keyring,
                           const std::vector<std::string_view>& ciphertexts, uint64_t call);

struct Decrypted {
  std::vector<std::optional<Secret>> values;  // by index; empty: the answer does not name it
  size_t strangers = 0;                       // values that were not asked for; they are dropped
};
// `count`: how many items the call had. An error: the bytes are no such message.
Result<Decrypted> decode_response(std::string_view bytes, size_t count, uint64_t call);

}  // namespace davit::secrets_vault
