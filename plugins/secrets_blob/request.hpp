// A DecryptSecretsBlobRequest, read and looked at before anything is done for it. Pure. It is read
// by hand: a protobuf library would keep a copy of the token, and writes a line to stderr for each
// request of a stranger that is not UTF-8.
#pragma once

#include <davit/wiped.hpp>

#include "pod_check.hpp"
#include "settings.hpp"

namespace davit::secrets_blob {

struct Request {
  std::string blob;
  Claim claim;
  Wiped token;
};

// INVALID_ARGUMENT: it is no such message, or too large; the text is for the caller.
// UNAUTHENTICATED: no pod can prove what it says; the text is for the log, and has nothing of it.
Result<Request> read_request(std::string_view bytes, const BlobSettings& settings);

}  // namespace davit::secrets_blob
