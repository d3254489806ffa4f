#include "assembly/application.hpp"
#include "table.hpp"

namespace davit::host {

int run_check(Arguments arguments) {
  const bool running = arguments.flag("--running");
  const bool rights = arguments.flag("--rights");
  if (auto bad = arguments.unknown()) return usage_error("check", *bad);
  if (arguments.rest().empty()) return usage_error("check", "names no configuration file");
  Application application(arguments.rest());
  return rights ? application.rights() : application.check(running);
}

}  // namespace davit::host
