// Serving is what the calls of one server share: the log, how calls end while the server shuts
// down, and the list of open calls. The server owns it. It outlives the calls.
#pragma once

#include "end.hpp"
#include "open_calls.hpp"

namespace davit::host {

class Log;

struct Serving {
  Log& log;
  const End going_down;
  OpenCalls open{};
};

}  // namespace davit::host
