#include "exit_codes.hpp"

namespace davit::host {

const std::vector<ExitMeaning>& exit_meanings() {
  static const std::vector<ExitMeaning> all = {
      {exit_code_done, "all is done"},
      {exit_code_failed,
       "something else: the output, a file or the store fails; of diff: it differs"},
      {exit_code_usage, "the command line or the configuration is wrong"},
      {exit_code_late, "of run: something did not stop in time"},
      {exit_code_refused,
       "refused: a wrong, outdated or unreadable document, or not allowed there"},
      {exit_code_not_found, "what was named is not there"},
      {exit_code_no_answer, "no server can be reached, or the timeout is over: try again"},
      {exit_code_rollout_failed, "of --wait and wait: it was taken, and cannot run or go as it is"},
      {exit_code_diff_failed, "of diff: something else fails"},
      {exit_code_unconfigured,
       "of run: nobody has configured it; the line says what to write where"},
  };
  return all;
}

ExitCode exit_code_of(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::already_exists:
    case Code::aborted:
    case Code::permission_denied:
    case Code::failed_precondition:
    case Code::out_of_range:
    case Code::unauthenticated:
      return exit_code_refused;
    case Code::not_found:
      return exit_code_not_found;
    case Code::deadline_exceeded:
    case Code::unavailable:
      return exit_code_no_answer;
    default:
      return exit_code_failed;
  }
}

}  // namespace davit::host
