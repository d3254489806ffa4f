#include "transit.hpp"

namespace davit::secrets_transit {
namespace {

// Of a token that is not to be had, or a call without an answer.
Outcome outcome_without(const Error& error) {
  if (error.code != Code::unauthenticated) return secret_store::outcome_of(error);
  return secret_store::failed(Outcome::Meaning::everything, error.code, error,
                              Outcome::Peer::works);
}

}  // namespace

Transit::Transit(Host host, TransitSettings settings, const secret_store::StoreSettings& common)
    : host_(host),
      settings_(std::move(settings)),
      bytes_max_(common.batch.bytes_max),
      api_(std::make_shared<Api>(host, common.target, settings_.vault_namespace)),
      session_(std::make_shared<Session>(host, settings_, api_,
                                         common.target.options.request_timeout)) {}

std::string Transit::advice() const {
  switch (settings_.auth) {
    case TransitSettings::Auth::approle:
      return "look at role_id, secret_id_file and auth_mount";
    case TransitSettings::Auth::kubernetes:
      return "look at role, service_account_file and auth_mount";
    default:
      return "put another one into token_file";
  }
}

Outcome Transit::call(const Batch& batch, const Batch::Part& part, const Op& op) {
  const Place place = place_of(part.group);
  std::vector<std::string_view> texts;
  for (const size_t n : part.wanted) texts.push_back(batch.wanted()[n].text);
  auto token = session_->token(op);
  if (!token.ok()) return outcome_without(token.error());
  for (bool again = false;; again = true) {
    Outcome out = place.read ? read(place, texts, *token, op) : decrypt(place, texts, *token, op);
    if (again || out.code != Code::permission_denied) return out;
    auto other = session_->after_refusal(*token, op);
    if (!other.ok()) return outcome_without(other.error());
    if (!*other) return out;
    token = std::move(**other);
  }
}

Outcome Transit::decrypt(const Place& place, const std::vector<std::string_view>& texts,
                         const Secret& token, const Op& op) {
  const uint64_t call = host_.random();
  const std::string body = batch_body(texts, call);
  const std::string path = url_path(settings_.transit_mount) + "/decrypt/" + url_path(place.name);
  auto response = api_->send({.path = path, .token = &token, .body = body}, op);
  if (!response.ok()) return secret_store::outcome_of(response.error());
  return decrypted_of(*response, texts.size(), call);
}

Outcome Transit::read(const Place& place, const std::vector<std::string_view>& texts,
                      const Secret& token, const Op& op) {
  const std::string path = url_path(settings_.kv_mount) + "/data/" + url_path(place.name) +
                           (place.version.empty() ? "" : "?version=" + place.version);
  auto response = api_->send({.method = "GET", .path = path, .token = &token}, op);
  if (!response.ok()) return secret_store::outcome_of(response.error());
  return read_of(*response, texts);
}

}  // namespace davit::secrets_transit
