#include "library.hpp"

#include <absl/synchronization/mutex.h>
#include <grpc/support/log.h>

#include <cstdlib>

namespace davit::host {

void tame_grpc() {
  // Debian builds Abseil with its checks on. It would enter every lock that gRPC takes into one
  // graph under one more lock, and would end the process at a cycle.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  if (std::getenv("GRPC_VERBOSITY") != nullptr || std::getenv("GRPC_TRACE") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args*) {});
}

}  // namespace davit::host
