// Waits until agents have done what was asked for: of apply and delete (--wait), and of wait.
#pragma once

#include <chrono>
#include <cstdio>
#include <vector>

#include <davit/v1/operator.pb.h>

#include "exit_codes.hpp"
#include "operator_client.hpp"
#include "wait_goal.hpp"

namespace davit::host {

// The limit of `--wait` as a whole, when the command has no --timeout.
constexpr std::chrono::seconds wait_timeout{60};

struct Await {
  const char* command;                // "apply"
  const char* not_yet;                // what is said at the timeout: "not running"
  std::FILE* progress;                // where progress is printed
  std::chrono::milliseconds timeout;  // of `client`; only for that message
};

// Returns exit_code_done when all records run, or are gone, as they should; or of the first that
// cannot, exit_code_rollout_failed; or exit_code_no_answer at the timeout. Goes on across a restart
// of the server. What was refused, and what the store has never had, is not waited for.
ExitCode await_records(OperatorClient& client, const std::vector<v1::Outcome>& outcomes,
                       const Await& how);

// The same until these objects have come to the goal. For `running`, the keys have the version and
// the incarnation that shall run.
ExitCode await_goal(OperatorClient& client, const WaitGoal& goal,
                    const std::vector<v1::Outcome>& keys, const Await& how);

}  // namespace davit::host
