#include "answer.hpp"

#include <charconv>

#include "secret_store/wiped_base64.hpp"
#include "secret_store/wiped_json.hpp"

namespace davit::secrets_transit {
namespace {

namespace json = boost::json;
using secret_store::array_in;
using secret_store::failed;
using secret_store::object_in;
using secret_store::text_in;
using secret_store::WipedJson;
using Meaning = Outcome::Meaning;
using Peer = Outcome::Peer;

// Statuses of the API beyond those of HTTP.
constexpr int behind = 412, dr_standby = 472, performance_standby = 473;

// Whether one of the body's "errors" has the word.
bool says(const json::object* body, std::string_view word) {
  const auto* errors = array_in(body, "errors");
  for (size_t n = 0; errors != nullptr && n < errors->size(); ++n) {
    const auto* text = (*errors)[n].if_string();
    if (text != nullptr &&
        std::string_view(text->data(), text->size()).find(word) != std::string_view::npos)
      return true;
  }
  return false;
}

Outcome no_vault(const http::Response& response) {
  return failed(Meaning::everything, Code::unknown,
                {Code::unavailable, "the server answers " + std::to_string(response.status) +
                                        ", and not as a vault does: is `url` that of a vault?"},
                Peer::fails);
}

// The Vault is away, or cannot work now. Empty: that is not it.
std::optional<Error> later_of(const http::Response& response, const json::object* body) {
  const auto later = [&](std::string message) {
    return Error{Code::unavailable, std::move(message), {}, response.retry_after};
  };
  const std::string status = " (" + std::to_string(response.status) + ")";
  if (says(body, "sealed")) return later("the vault is sealed: it has to be unsealed");
  if (says(body, "not initialized") || says(body, "not yet initialized"))
    return later("the vault is not initialized");
  switch (response.status) {
    case 429:
      return later("the vault limits the rate of requests" + status);
    case 307:
    case dr_standby:
    case performance_standby:
      return later("the server is a standby, and passes no requests on" + status);
    case behind:
      return later("the server is behind the active one" + status);
    case 500:
      return later("the vault has an error of its own" + status);
    default:
      return http::busy(response);
  }
}

// What is not about the items.
std::optional<Outcome> trouble_of(const http::Response& response, const json::object* body) {
  if (auto later = later_of(response, body))
    return failed(Meaning::later, Code::unavailable, *later, Peer::fails);
  if (body == nullptr || (response.status != 200 && array_in(body, "errors") == nullptr &&
                          object_in(body, "data") == nullptr))
    return no_vault(response);
  if (response.status == 403) {
    return failed(Meaning::group, Code::permission_denied,
                  {Code::permission_denied, "the vault's policies do not allow it"}, Peer::works);
  }
  if (says(body, "no handler for route")) {
    return failed(Meaning::group, Code::not_found,
                  {Code::unavailable,
                   "the vault has no such engine: look at transit_mount, kv_mount and namespace"},
                  Peer::works);
  }
  return std::nullopt;
}

Outcome refused(Code code, bool certain, std::string message) {
  Outcome out = failed(certain ? Meaning::group : Meaning::refused, code,
                       {code, std::move(message)}, Peer::works);
  out.certain = certain;
  return out;
}

Error error_of(std::string_view said) {
  const bool old = said.find("too old") != said.npos;
  return {Code::invalid_argument,
          old ? "the key's version is not allowed any more (min_decryption_version)"
              : "the vault cannot decrypt the item: it was encrypted with another key, or is "
                "damaged"};
}

// One result of a batch.
void take(const json::value& result, size_t index, uint64_t call, Outcome& out) {
  const auto* object = result.if_object();
  const std::string_view reference = text_in(object, "reference");
  if (!reference.empty() && reference != reference_of(call, index)) {
    ++out.strangers;
    return;
  }
  if (const std::string_view said = text_in(object, "error"); !said.empty()) {
    out.errors[index] = error_of(said);
    return;
  }
  if (object == nullptr || !object->contains("plaintext")) return;
  Wiped plaintext;
  if (!secret_store::append_from_base64(plaintext, text_in(object, "plaintext"))) {
    out.errors[index] = {Code::internal, "the vault's plaintext is no base64"};
    return;
  }
  out.values[index] = Secret(plaintext.view());
}

// The only field, or the named one. Empty: `error` says why.
std::optional<Secret> field_of(const json::object& fields, std::string_view name, Error& error) {
  const json::value* found = nullptr;
  if (name.empty()) {
    if (fields.size() == 1) found = &fields.begin()->value();
    if (found == nullptr)
      error = {Code::invalid_argument, "the item names no field, and the secret has not just one"};
  } else {
    found = fields.if_contains(name);
    if (found == nullptr) error = {Code::not_found, "the secret has no such field"};
  }
  if (found == nullptr) return std::nullopt;
  if (const auto* text = found->if_string())
    return Secret(std::string_view(text->data(), text->size()));
  error = {Code::invalid_argument, "the secret's field is no text"};
  return std::nullopt;
}

int64_t number_in(const json::object* in, std::string_view name) {
  const auto* found = in == nullptr ? nullptr : in->if_contains(name);
  return found != nullptr && found->is_int64() ? found->get_int64() : 0;
}

}  // namespace

std::string reference_of(uint64_t call, size_t index) {
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), call, 16).ptr;
  return std::string(digits, end) + "-" + std::to_string(index);
}

// No character of a ciphertext needs an escape: asked_by has seen to that.
std::string batch_body(const std::vector<std::string_view>& ciphertexts, uint64_t call) {
  std::string out = R"({"batch_input":[)";
  for (size_t n = 0; n < ciphertexts.size(); ++n) {
    out += n == 0 ? R"({"ciphertext":")" : R"(,{"ciphertext":")";
    out += ciphertexts[n];
    out += R"(","reference":")" + reference_of(call, n) + "\"}";
  }
  return out + "]}";
}

Outcome decrypted_of(const http::Response& response, size_t count, uint64_t call) {
  const WipedJson body(response.body.view());
  // With an item that fails the status is that of the failure.
  if (const auto* results = array_in(object_in(body.object(), "data"), "batch_results")) {
    if (results->size() != count) return no_vault(response);
    Outcome out;
    out.meaning = Meaning::decrypted;
    out.values.resize(count);
    for (size_t n = 0; n < count; ++n) take((*results)[n], n, call, out);
    return out;
  }
  if (auto trouble = trouble_of(response, body.object())) return std::move(*trouble);
  if (says(body.object(), "key not found"))
    return refused(Code::not_found, true, "the vault has no key for the keyring");
  if (response.status == 400 || response.status == 413)
    return refused(Code::invalid_argument, false, "the vault refuses to decrypt the item");
  return no_vault(response);
}

Outcome read_of(const http::Response& response, const std::vector<std::string_view>& fields) {
  const WipedJson body(response.body.view());
  if (auto trouble = trouble_of(response, body.object())) return std::move(*trouble);
  const auto* data = object_in(body.object(), "data");
  const auto* metadata = object_in(data, "metadata");
  const auto* found = object_in(data, "data");
  if (response.status == 404) {
    return refused(Code::not_found, true,
                   metadata != nullptr ? "the secret's version was deleted"
                                       : "the vault has no such secret, or not this version");
  }
  if (response.status == 400)
    return refused(Code::invalid_argument, true, "the vault refuses to read it");
  if (response.status != 200) return no_vault(response);
  if (found == nullptr || metadata == nullptr)
    return refused(Code::invalid_argument, true, "the engine at kv_mount is no KV of version 2");
  Outcome out;
  out.meaning = Meaning::decrypted;
  if (const int64_t version = number_in(metadata, "version"); version > 0)
    out.version = std::to_string(version);
  for (size_t n = 0; n < fields.size(); ++n) {
    Error error;
    out.values.push_back(field_of(*found, fields[n], error));
    if (!out.values.back()) out.errors[n] = std::move(error);
  }
  return out;
}

Result<Granted> granted_by(const http::Response& response) {
  const WipedJson body(response.body.view());
  if (auto later = later_of(response, body.object())) return *later;
  const auto* auth = object_in(body.object(), "auth");
  if (response.status == 200 && auth != nullptr && !text_in(auth, "client_token").empty()) {
    Granted out;
    out.token = Secret(text_in(auth, "client_token"));
    out.lasts = std::chrono::seconds(std::max<int64_t>(0, number_in(auth, "lease_duration")));
    const auto* renewable = auth->if_contains("renewable");
    out.renewable = renewable != nullptr && renewable->is_bool() && renewable->get_bool();
    return Result<Granted>(std::move(out));
  }
  if (says(body.object(), "no handler for route"))
    return Error{Code::unauthenticated, "the vault has nothing at auth_mount to log in by"};
  if (array_in(body.object(), "errors") != nullptr && response.status < 500) {
    return Error{Code::unauthenticated,
                 "the vault does not accept the login (" + std::to_string(response.status) + ")"};
  }
  return no_vault(response).error;
}

}  // namespace davit::secrets_transit
