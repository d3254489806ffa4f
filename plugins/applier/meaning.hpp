// Classifies an answer of the Kubernetes API for a reconciliation: go on, retry or park. Pure.
//
// Nothing that could do harm depends on the text for people, because an admission policy's text may
// hold any word. Fields are judged by the causes of the Status, which only the API server's own
// validation fills in.
#pragma once

#include <string>
#include <vector>

#include <davit/cluster.hpp>

namespace davit::applier {

enum class Meaning {
  fine,
  absent,     // 404
  exists,     // 409 AlreadyExists
  changed,    // 409: the object is not in the state that the request names
  immutable,  // 422, and every cause is a field that cannot change
  retry,      // nobody's fault: retry later
  no_right,   // 403 of the authorizer or of an API server that is starting: retry for a while
  refused,    // can never succeed as it is
};

// `force`: our applies take fields over from other managers, so a conflict about fields can only be
// a passing one.
Meaning meaning(const cluster::Response& response, bool force);

// One entry of a Status' details.causes.
struct Cause {
  std::string reason, field, message;
};
// The causes of a refusal. Empty when the body is no Status or names none.
std::vector<Cause> causes_of(const cluster::Response& refusal);

// True when the API server's validation, not an admission policy, has refused the object: every
// cause names a field.
bool refused_by_validation(const cluster::Response& refusal);

// Whether the answer to a create with dryRun=All says that the object would be accepted if its name
// were free. An API server checks the name last, after admission and validation. So "already
// exists" says that both have accepted the object.
bool would_be_accepted(const cluster::Response& answer);

// The API server says that a webhook refused the request or could not be asked. A webhook may say
// anything, so this only spares other records a pause; it never causes one.
bool names_webhook(const cluster::Response& response);

// For logs, issues and statuses: "422 Invalid: ...".
std::string describe(const cluster::Response& response);

}  // namespace davit::applier
