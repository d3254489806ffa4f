// Whether a pod is the one that a token was made for, and of the deployment and environment that
// its request names. Pure.
#pragma once

#include "token_review.hpp"

namespace davit::secrets_blob {

// What the pod's labels must say. Neither is empty.
struct Claim {
  std::string deployment_id, environment_id;
};

cluster::Request pod_request(const PodIdentity& who);

// UNAUTHENTICATED: it is not that pod, or a pod of something else; the text is for the log.
// UNAVAILABLE: `pod` is no pod. `label_prefix`: "unkey.com/".
Result<> check_pod(std::string_view pod, const PodIdentity& who, const Claim& claim,
                   const std::string& label_prefix, int64_t now_unix_ms);

}  // namespace davit::secrets_blob
