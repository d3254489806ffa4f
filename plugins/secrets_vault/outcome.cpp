#include "outcome.hpp"

#include "secret_store/code_names.hpp"

namespace davit::secrets_vault {
namespace {

using secret_store::code_name;
using secret_store::failed;
using Meaning = Outcome::Meaning;
using Peer = Outcome::Peer;

Outcome refused(Code code, bool certain, Error error) {
  Outcome out = failed(Meaning::refused, code, std::move(error), Peer::works);
  out.certain = certain;
  return out;
}

Outcome no_vault(Code code, const std::string& what) {
  return failed(Meaning::everything, code,
                {Code::unavailable, what + ": is `url` that of a vault?"}, Peer::fails);
}

// The service itself has said so.
Outcome of_service(const http::Response& response, Code code) {
  const auto says = [code](const char* what) {
    return std::string(what) + " (" + code_name(code) + ")";
  };
  switch (code) {
    case Code::invalid_argument:
      return refused(code, true, {Code::invalid_argument, says("the vault refuses the item")});
    case Code::not_found:
      return refused(code, true, {Code::not_found, says("the vault does not know the keyring")});
    case Code::permission_denied:
      return failed(Meaning::group, code,
                    {Code::permission_denied, says("the token may not use the keyring")},
                    Peer::works);
    case Code::unauthenticated:
      return failed(Meaning::everything, code,
                    {Code::unauthenticated, says("the vault does not accept the token")},
                    Peer::works);
    case Code::unimplemented:
      return no_vault(code, says("the server has no vault.v1.VaultService/DecryptBulk"));
    case Code::unavailable:
    case Code::resource_exhausted:
    case Code::aborted:
    case Code::deadline_exceeded:
    case Code::cancelled:
      return failed(
          Meaning::later, code,
          {Code::unavailable, says("the vault asks to try again later"), {}, response.retry_after},
          Peer::fails);
    default:
      return refused(code, false,
                     {Code::invalid_argument,
                      says("the vault cannot decrypt the item: it was encrypted for another "
                           "keyring, or is damaged")});
  }
}

// The HTTP status says so, of whoever it is.
Outcome of_status(const http::Response& response, Code code) {
  const std::string status = std::to_string(response.status);
  if (auto later = http::busy(response)) return failed(Meaning::later, code, *later, Peer::fails);
  if (code == Code::unauthenticated || code == Code::permission_denied)
    return failed(Meaning::everything, code, {code, "the server answers " + status}, Peer::works);
  return no_vault(code, response.status == 200
                            ? "the server answers with something else than a message"
                            : "the server answers " + status + ", and not as a vault does");
}

}  // namespace

Outcome outcome_of(const http::Response& response, size_t count, uint64_t call) {
  const ConnectAnswer answer = read_answer(response);
  if (answer.code != Code::ok) {
    return answer.of_the_service ? of_service(response, answer.code)
                                 : of_status(response, answer.code);
  }
  auto decrypted = decode_response(response.body.view(), count, call);
  if (!decrypted.ok())
    return no_vault(Code::unknown, "the server's answer " + decrypted.error().message);
  Outcome out;
  out.meaning = Meaning::decrypted;
  out.values = std::move(decrypted->values);
  out.strangers = decrypted->strangers;
  return out;
}

}  // namespace davit::secrets_vault
