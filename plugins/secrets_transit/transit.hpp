// Transit: how a HashiCorp Vault or an OpenBao is asked: the transit engine decrypts, the KV engine
// is read.
#pragma once

#include "secret_store/store.hpp"
#include "session.hpp"

namespace davit::secrets_transit {

class Transit final : public secret_store::Protocol {
 public:
  Transit(Host host, TransitSettings settings, const secret_store::StoreSettings& common);

  Result<Batch::Asked> ask_for(const secrets::Item& item) const override {
    return asked_by(item, settings_, bytes_max_);
  }
  // A call that is answered 403 is repeated once, if another token is to be had.
  Outcome call(const Batch& batch, const Batch::Part& part, const Op& op) override;
  Result<> check() const override { return session_->check(); }
  std::string advice() const override;

  const std::shared_ptr<Session>& session() const { return session_; }

 private:
  Outcome decrypt(const Place& place, const std::vector<std::string_view>& texts,
                  const Secret& token, const Op& op);
  Outcome read(const Place& place, const std::vector<std::string_view>& texts, const Secret& token,
               const Op& op);

  const Host host_;
  const TransitSettings settings_;
  const size_t bytes_max_;
  const std::shared_ptr<Api> api_;
  const std::shared_ptr<Session> session_;
};

}  // namespace davit::secrets_transit
