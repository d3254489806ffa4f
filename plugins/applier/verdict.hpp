// What an answer of the Kubernetes API means for a key: go on, try again, or park it. Pure.
//
// What the answer says to people decides nothing that could harm: an admission policy's text may
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
  immutable,  // 422, and nothing is wrong but fields that cannot change and would have to
  retry,      // nobody's fault: again, later
  no_right,   // 403 of the authorizer, or of an API server that starts: again for a while
  refused,    // it can never succeed as it is
};

// `force`: our applies take over fields of other managers, so that a conflict about fields can only
// be a passing one.
Meaning meaning(const cluster::Response& response, bool force);

// One of a Status' details.causes.
struct Cause {
  std::string reason, field, message;
};
// Of a refusal; none when its body is no Status or names none.
std::vector<Cause> causes_of(const cluster::Response& refusal);

// The API server's validation has refused the object, and no admission policy: every cause names a
// field.
bool refused_by_validation(const cluster::Response& refusal);

// Whether the answer to a create with dryRun=All says that the object would be accepted if nothing
// had its name. An API server looks for the name last, after admission and validation: "already
// exists" says that both have let it pass.
bool would_be_accepted(const cluster::Response& answer);

// The API server has too much to do, or nobody answered: less is to be asked of it. Not a plain
// 500: one record's webhook may fail for ever.
bool overloaded(const cluster::Response& response);

// It is a webhook that refused the request, or could not be asked, in the API server's words. A
// webhook may say anything, so this only spares other records a pause; it never makes one.
bool names_webhook(const cluster::Response& response);

// For logs, issues and statuses: "422 Invalid: ...".
std::string describe(const cluster::Response& response);

}  // namespace davit::applier
