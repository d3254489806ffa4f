// Vault: how the Vault of Krane's control plane is asked: what an item asks for, the way there, and
// the token.
#pragma once

#include "outcome.hpp"
#include "secret_store/store.hpp"
#include "secret_store/token_file.hpp"

namespace davit::secrets_vault {

using secret_store::Batch;

class Vault final : public secret_store::Protocol {
 public:
  Vault(Host host, const secret_store::StoreSettings& settings, std::string token_file);

  Result<Batch::Asked> ask_for(const secrets::Item& item) const override;
  // A token that is refused is read again, and sent again when it is another one.
  Outcome call(const Batch& batch, const Batch::Part& part, const Op& op) override;
  Result<> check() const override;
  std::string advice() const override { return "put another one into token_file"; }

 private:
  Result<http::Response> post(const Secret& token, std::string_view body, const Op& op);

  const Host host_;
  const std::string url_;
  const std::chrono::milliseconds request_timeout_;
  const size_t bytes_max_;
  http::Client client_;
  secret_store::TokenFile token_;
};

// `bytes_max`: of the item's texts.
Result<Batch::Asked> asked_by(const secrets::Item& item, size_t bytes_max);

}  // namespace davit::secrets_vault
