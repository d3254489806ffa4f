// gRPC as a library of this process.
#pragma once

namespace davit::host {

// gRPC logs to standard error by itself. What matters of it reaches us as statuses, so it is
// silenced, unless somebody debugs and says so with gRPC's own GRPC_VERBOSITY or GRPC_TRACE. The
// distribution's debugging aids of its locks are switched off. Idempotent.
void tame_grpc();

}  // namespace davit::host
