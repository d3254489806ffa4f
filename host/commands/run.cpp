#include "assembly/application.hpp"
#include "table.hpp"

namespace davit::host {

int run_run(Arguments arguments) {
  if (auto bad = arguments.unknown()) return usage_error("run", *bad);
  if (arguments.rest().empty()) return usage_error("run", "names no configuration file");
  return Application(arguments.rest()).run();
}

}  // namespace davit::host
