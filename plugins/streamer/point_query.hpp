// The point queries: one record of the caller's region, as the streams would say it.
// davit.v1.AgentService/Get and every kind's get method of ctrl.v1.
#pragma once

#include "stream.hpp"

namespace davit::streamer {

// Registers AgentService/Get. In wire() only; `shared` outlives every call.
Result<> serve_get(Shared& shared, const rpc::Server& server);
Result<> serve_ctrl_get(Shared& shared, const rpc::Server& server, const Classifier::Kind& kind);

}  // namespace davit::streamer
