// The point queries: one record of the caller's region, as the streams would say it.
// davit.v1.AgentService/Get and every kind's get method of ctrl.v1.
#pragma once

#include "stream.hpp"

namespace davit::streamer {

// Of one region fourteen look-ups are under way at once, and some 3,600 may wait: whoever asks for
// everything all the time waits for itself. A look-up is small work, so there is no pace.
inline constexpr TurnLimits look_up_limits{
    .working_bytes = 64 << 10, .waiting_bytes = 16 << 20, .pace = no_pace};

// Registers AgentService/Get. In wire() only; `shared` outlives every call.
Result<> serve_get(Shared& shared, const rpc::Server& server);
Result<> serve_ctrl_get(Shared& shared, const rpc::Server& server, const Classifier::Kind& kind);

}  // namespace davit::streamer
