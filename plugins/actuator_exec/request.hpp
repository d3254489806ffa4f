// The document that a program reads, and whose cluster it is. Pure.
#pragma once

#include <string>
#include <vector>

#include "davit/actuator.hpp"

namespace davit::actuator_exec {

enum class Operation { reconcile, remove };

// Whether the call is one for this instance: the cluster is JSON, and what is to be built is of one
// of the providers (none: any). `remove` needs no providerSpec, and takes any (rule T4).
Result<> check_call(const actuator::Call& call, Operation operation,
                    const std::vector<std::string>& providers);

// sdk/schemas/actuator_input.schema.json. The cluster is in it as it was given.
std::string request_of(const actuator::Call& call, Operation operation, int64_t deadline_unix_ms);

}  // namespace davit::actuator_exec
