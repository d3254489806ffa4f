#include "exit_codes.hpp"

namespace davit::secrets_file {

const std::vector<std::pair<SealExit, const char*>>& seal_exit_meanings() {
  static const std::vector<std::pair<SealExit, const char*>> all = {
      {seal_exit_done, "all is done"},
      {seal_exit_failed, "something else: a file, or standard input or output, fails"},
      {seal_exit_usage, "the command line is wrong"},
      {seal_exit_refused, "refused: a wrong key or sealed value, or a file that is not allowed"},
      {seal_exit_not_found, "a file that was named is not there"},
  };
  return all;
}

SealExit seal_exit_of(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::already_exists:
    case Code::permission_denied:
    case Code::failed_precondition:
      return seal_exit_refused;
    case Code::not_found:
      return seal_exit_not_found;
    default:
      return seal_exit_failed;
  }
}

}  // namespace davit::secrets_file
