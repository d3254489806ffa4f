// What an answer of the API means for the items, and for a login. Pure. Nothing that a Vault says
// of an item is passed on: it could contain the item.
#pragma once

#include <chrono>

#include "http/client.hpp"
#include "names.hpp"
#include "secret_store/outcome.hpp"

namespace davit::secrets_transit {

using secret_store::Outcome;

// "1f-0": the reference of an item in a batch. The answer to another call has others.
std::string reference_of(uint64_t call, size_t index);
std::string batch_body(const std::vector<std::string_view>& ciphertexts, uint64_t call);

// Of the answer to a batch of `count` ciphertexts.
Outcome decrypted_of(const http::Response& response, size_t count, uint64_t call);
// Of the answer to a read of a secret, from which these fields are wanted.
Outcome read_of(const http::Response& response, const std::vector<std::string_view>& fields);

// What a login or a renewal gives.
struct Granted {
  Secret token;
  std::chrono::seconds lasts{0};
  bool renewable = false;
};
// UNAUTHENTICATED: the Vault does not accept who logs in. UNAVAILABLE: try again later.
Result<Granted> granted_by(const http::Response& response);

}  // namespace davit::secrets_transit
