#include "vault.hpp"

#include "davit/utf8.hpp"

namespace davit::secrets_vault {
namespace {

Error unusable(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

// What no call of the Vault can resolve.
std::optional<Error> fault_of(const secrets::Item& item, size_t bytes_max) {
  if (item.type == DAVIT_SECRET_READ)
    return Error{Code::unimplemented, "the vault decrypts ciphertexts, and stores no secrets"};
  if (item.type != DAVIT_SECRET_DECRYPT)
    return Error{Code::unimplemented,
                 "items of the type " + std::to_string(item.type) + " are not known here"};
  if (item.keyring.empty()) return unusable("the item names no keyring");
  if (!valid_utf8(item.keyring)) return unusable("the keyring's name is no UTF-8");
  if (!valid_utf8(item.ciphertext))
    return unusable("the ciphertext is no text: this vault's ciphertexts are base64");
  if (item.keyring.size() + item.ciphertext.size() > bytes_max) {
    return unusable("keyring and ciphertext have more than " + std::to_string(bytes_max) +
                    " bytes (batch_bytes_max)");
  }
  return std::nullopt;
}

}  // namespace

Result<Batch::Asked> asked_by(const secrets::Item& item, size_t bytes_max) {
  if (auto fault = fault_of(item, bytes_max)) return *fault;
  return Batch::Asked{item.keyring, item.ciphertext};
}

Vault::Vault(Host host, const secret_store::StoreSettings& settings, std::string token_file)
    : host_(host),
      url_(settings.target.url.text + "/vault.v1.VaultService/DecryptBulk"),
      request_timeout_(settings.target.options.request_timeout),
      bytes_max_(settings.batch.bytes_max),
      client_(host, settings.target.options),
      token_(host, std::move(token_file)) {}

Result<> Vault::check() const {
  if (auto token = token_.read(); !token.ok()) return token.error();
  return client_.check();
}

Result<Batch::Asked> Vault::ask_for(const secrets::Item& item) const {
  return asked_by(item, bytes_max_);
}

Result<http::Response> Vault::post(const Secret& token, std::string_view body, const Op& op) {
  Wiped authorization("Bearer ");
  authorization.append(token.view());
  // How long we wait, so that the Vault does not work for nobody.
  const auto left = std::min<std::chrono::nanoseconds>(
      request_timeout_, std::chrono::nanoseconds(op.deadline_ns()) - host_.now());
  const std::string timeout = std::to_string(
      std::max<int64_t>(1, std::chrono::floor<std::chrono::milliseconds>(left).count()));
  http::Request request;
  request.method = "POST";
  request.url = url_;
  request.headers = {{"Content-Type", "application/proto"},
                     {"Connect-Protocol-Version", "1"},
                     {"Connect-Timeout-Ms", timeout},
                     {"Authorization", authorization.view()}};
  request.body = body;
  request.repeatable = true;  // to decrypt changes nothing
  return client_.send(request, op);
}

Outcome Vault::call(const Batch& batch, const Batch::Part& part, const Op& op) {
  const uint64_t call = host_.random();
  std::vector<std::string_view> ciphertexts;
  for (const size_t n : part.wanted) ciphertexts.push_back(batch.wanted()[n].text);
  const std::string body = encode_request(part.group, ciphertexts, call);
  auto token = token_.current();
  if (!token.ok()) {
    Error error = token.error().in("token_file");
    error.code = Code::unauthenticated;
    return outcome_of(error);
  }
  for (bool again = false;; again = true) {
    auto response = post(*token, body, op);
    if (!response.ok()) return outcome_of(response.error());
    Outcome out = outcome_of(*response, part.wanted.size(), call);
    if (again || out.code != Code::unauthenticated) return out;
    auto fresh = token_.current();
    if (!fresh.ok() || fresh->view() == token->view()) return out;
    token = std::move(fresh);
  }
}

}  // namespace davit::secrets_vault
