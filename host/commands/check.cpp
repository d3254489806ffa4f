#include "assembly/application.hpp"
#include "table.hpp"

namespace davit::host {

int run_check(Arguments arguments) {
  const bool running = arguments.flag("--running");
  if (auto bad = arguments.unknown()) return usage_error("check", *bad);
  if (arguments.rest().empty()) return usage_error("check", "names no configuration file");
  return Application(arguments.rest()).check(running);
}

}  // namespace davit::host
