// What an answer of DecryptBulk means for the items. Pure.
#pragma once

#include "connect_answer.hpp"
#include "decrypt_bulk.hpp"
#include "secret_store/outcome.hpp"

namespace davit::secrets_vault {

using secret_store::Outcome;
using secret_store::outcome_of;

// Of an answer to the call `call` with `count` items.
Outcome outcome_of(const http::Response& response, size_t count, uint64_t call);

}  // namespace davit::secrets_vault
