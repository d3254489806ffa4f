// Settings of gRPC as a library of this process. Servers, clients and commands use it.
#pragma once

namespace davit::host {

// Silences gRPC's log on standard error, unless GRPC_VERBOSITY or GRPC_TRACE is set: errors that
// matter reach the host as statuses. Turns off the lock checks of the distribution's Abseil.
// Idempotent.
void tame_grpc();

}  // namespace davit::host
