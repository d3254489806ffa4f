// What an answer of a Connect service means: which code, and whether a Connect service has answered
// at all. Pure. Nothing of a body is kept.
#pragma once

#include "http/client.hpp"

namespace davit::secrets_vault {

struct ConnectAnswer {
  Code code = Code::ok;
  // The service itself gave the code, in the form of an error of Connect. False: the code follows
  // from the HTTP status, which a proxy may have sent.
  bool of_the_service = false;
};

// ok: status 200 with the content type application/proto; the body is the message. A status of 200
// with another type is no answer of a Connect service: UNKNOWN.
ConnectAnswer read_answer(const http::Response& response);

}  // namespace davit::secrets_vault
