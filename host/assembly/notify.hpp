// Tells the service manager the state of the process (sd_notify(3)). Does nothing if no service
// manager has asked for that, and waits a second at most.
#pragma once

#include <string_view>

namespace davit::host {

void notify(std::string_view state);  // "READY=1", "STOPPING=1"

}  // namespace davit::host
