#include "request.hpp"

#include <davit/kubernetes/names.hpp>

#include "token_review.hpp"
#include "wire/fields.hpp"

namespace davit::secrets_blob {
namespace {

Error too_large(const char* what, size_t most) {
  return {Code::invalid_argument,
          std::string(what) + " has more than " + std::to_string(most) + " bytes"};
}

// Whether a label can have the value. An empty one says nothing of a pod.
bool may_be_label(const std::string& id) {
  return !id.empty() && !kubernetes::label_value_fault(id);
}

// Of a field that is there twice, the last counts. Fields of later versions are passed over. The
// texts need no check for UTF-8, because they are ASCII or refused.
bool decode(std::string_view bytes, Request& out, std::string_view& token) {
  return wire::each_field(bytes, [&](const wire::Field& f) {
    if (!f.is_bytes) return;
    if (f.number == 1) out.blob = f.bytes;
    if (f.number == 2) out.claim.environment_id = f.bytes;
    if (f.number == 3) token = f.bytes;
    if (f.number == 4) out.claim.deployment_id = f.bytes;
  });
}

}  // namespace

Result<Request> read_request(std::string_view bytes, const BlobSettings& settings) {
  Request out;
  std::string_view token;
  if (!decode(bytes, out, token))
    return Error{Code::invalid_argument, "the request cannot be decoded"};
  if (out.blob.size() > settings.blob_bytes_max)
    return too_large("encrypted_blob", settings.blob_bytes_max);
  if (token.size() > settings.token_bytes_max) return too_large("token", settings.token_bytes_max);
  if (!may_be_label(out.claim.deployment_id))
    return Error{Code::unauthenticated, "no pod has a label with such a deployment_id"};
  if (!may_be_label(out.claim.environment_id))
    return Error{Code::unauthenticated, "no pod has a label with such an environment_id"};
  if (!may_be_token(token))
    return Error{Code::unauthenticated, "the token has not the form of one"};
  out.token.append(token);
  return out;
}

}  // namespace davit::secrets_blob
