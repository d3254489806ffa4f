#include "library.hpp"

#include <grpc/support/log.h>

#include <cstdlib>

namespace davit::host {

void quiet_grpc() {
  if (std::getenv("GRPC_VERBOSITY") != nullptr || std::getenv("GRPC_TRACE") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace davit::host
