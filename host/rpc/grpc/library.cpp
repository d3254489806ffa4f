#include "library.hpp"

#include <absl/synchronization/mutex.h>
#include <grpc/support/log.h>

#include <cstdlib>

namespace davit::host {

void tame_grpc() {
  // Debian builds Abseil with its checks on: every lock that gRPC takes is entered into one graph,
  // under one more lock, and a cycle there would end the process.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (std::getenv("GRPC_VERBOSITY") != nullptr || std::getenv("GRPC_TRACE") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace davit::host
