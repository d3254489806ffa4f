#include "outcomes.hpp"

#include <davit/v1/operator.pb.h>

namespace davit::host {

std::string outcome_line(const v1::Outcome& o, bool dry_run) {
  std::string line = o.kind() + "/" + o.id() + " (" + o.region() + ") " + o.outcome();
  if (o.version() != 0) line += " (version " + std::to_string(o.version()) + ")";
  if (!o.message().empty()) line += ": " + o.message();
  if (dry_run) line += " (dry run)";
  return line;
}

bool is_refused(const v1::Outcome& o) {
  if (o.type() != v1::Outcome::TYPE_UNSPECIFIED) return o.type() == v1::Outcome::TYPE_REFUSED;
  return o.code() != 0;
}

ExitCode exit_code_of(const v1::Outcome& refused) {
  return exit_code_of(static_cast<Code>(refused.code()));
}

}  // namespace davit::host
