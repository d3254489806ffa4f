#include "request.hpp"

#include <davit/kubernetes/names.hpp>

#include "token_review.hpp"

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

// Takes one number of the wire from the front of `bytes`. False: there is none.
bool take_number(std::string_view& bytes, uint64_t& out) {
  out = 0;
  constexpr unsigned bits = 64;
  for (unsigned shift = 0; shift < bits && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    out |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool take_bytes(std::string_view& bytes, uint64_t count, std::string_view& out) {
  if (count > bytes.size()) return false;
  out = bytes.substr(0, count);
  bytes.remove_prefix(count);
  return true;
}

// A field of the wire.
struct Field {
  uint64_t number = 0;
  bool has_length = false;  // it is a text, or bytes
  std::string_view content;
};

bool take_field(std::string_view& bytes, Field& out) {
  constexpr uint64_t varint = 0, eight_bytes = 1, length = 2, four_bytes = 5;
  uint64_t tag = 0, size = 0;
  if (!take_number(bytes, tag)) return false;
  const uint64_t form = tag & 7u;
  out = {tag >> 3, form == length, {}};
  if (out.number == 0) return false;
  if (form == varint) return take_number(bytes, size);
  if (form == eight_bytes) size = 8;
  if (form == four_bytes) size = 4;
  if (form == length && !take_number(bytes, size)) return false;
  const bool known = form == eight_bytes || form == four_bytes || form == length;
  return known && take_bytes(bytes, size, out.content);
}

// Of a field that is there twice, the last counts. Fields of later versions are passed over. The
// texts need no check for UTF-8, because they are ASCII or refused.
bool decode(std::string_view bytes, Request& out, std::string_view& token) {
  while (!bytes.empty()) {
    Field field;
    if (!take_field(bytes, field)) return false;
    if (!field.has_length) continue;
    if (field.number == 1) out.blob = field.content;
    if (field.number == 2) out.claim.environment_id = field.content;
    if (field.number == 3) token = field.content;
    if (field.number == 4) out.claim.deployment_id = field.content;
  }
  return true;
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
