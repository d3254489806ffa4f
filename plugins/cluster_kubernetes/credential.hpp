// Credential: what was made for requests to go with, by an exec plugin or with the help of a token
// server. CredentialRunner has it made, CredentialCache says how long it is used, Credentials puts
// it into the Access.
#pragma once

#include <davit/host.hpp>
#include <optional>

namespace davit::cluster_kubernetes {

// A token, or a certificate with its key, or both.
struct Credential {
  Secret token;
  std::string certificate;  // PEM
  Secret key;               // PEM
  std::optional<int64_t> expires_unix_ms;
  std::optional<int64_t> renew_unix_ms;  // from then on the next one is made, and this one is used
  std::string doubt;  // what a refusal of it may come from; empty: nothing is known
};

}  // namespace davit::cluster_kubernetes
