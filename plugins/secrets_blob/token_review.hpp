// A TokenReview: the question whose token it is, and what the API server's answer says of it. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <davit/cluster.hpp>
#include <davit/wiped.hpp>

namespace davit::secrets_blob {

// The pod that a token was made for, as the API server names it.
struct PodIdentity {
  std::string ns, service_account, pod;
  std::string uid;  // empty: the token says nothing of it
};

// Whether the text has the form of a bearer token (RFC 6750). No other text is asked about.
bool may_be_token(std::string_view text);

// The request without its body, and the body. `token` is one that may be.
cluster::Request review_request();
Wiped review_body(std::string_view token, const std::vector<std::string>& audiences);

// Reads the answer. UNAUTHENTICATED: the token is not that of a pod; the text is for the log.
// UNAVAILABLE: this is no answer to a TokenReview.
Result<PodIdentity> read_review(std::string_view answer, const std::vector<std::string>& audiences);

}  // namespace davit::secrets_blob
