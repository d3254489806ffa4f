// What an answer of the Kubernetes API means for a key: go on, try again, or park it. Pure.
#pragma once

#include <davit/cluster.hpp>

namespace davit::applier {

enum class Meaning {
  fine,
  absent,     // 404
  exists,     // 409 AlreadyExists
  immutable,  // 422: a field that cannot change would have to
  retry,      // nobody's fault: again, later
  refused,    // it can never succeed as it is
};

// `force`: our applies take over fields of other managers, so that a conflict can only be a passing
// one.
Meaning meaning(const cluster::Response& response, bool force);

// The API server has too much to do, or nobody answered: less is to be asked of it. Not a plain
// 500: one record's webhook may fail for ever.
bool overloaded(const cluster::Response& response);

// For logs, issues and statuses: "422 Invalid: ...".
std::string describe(const cluster::Response& response);

}  // namespace davit::applier
