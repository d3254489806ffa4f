// Serves the point queries: one record of the caller's region, as a stream would send it. These are
// davit.v1.AgentService/Get and the get method of every kind on ctrl.v1.
#pragma once

#include <davit/rpc.hpp>
#include <davit/storage.hpp>
#include <davit/turn_runner.hpp>

#include "classifier.hpp"

namespace davit::streamer {

// Fourteen look-ups of one region and kind run at once, and some 3,600 may wait. A region that asks
// for everything all the time therefore waits for itself, and so does a kind that takes long. A
// look-up is small, so there is no pace.
inline constexpr TurnLimits look_up_limits{
    .working_bytes = 64 << 10, .waiting_bytes = 16 << 20, .pace = no_pace};

// What they need.
struct Queries {
  Host host;
  Classifier& classifier;
  storage::Client storage;
  TurnRunner& look_ups;
  Metric storage_errors;
};

// Each registers its method. In wire() only; `queries` outlives every call.
Result<> serve_get(Queries& queries, const rpc::Server& server);
Result<> serve_ctrl_get(Queries& queries, const rpc::Server& server, const Classifier::Kind& kind);

}  // namespace davit::streamer
