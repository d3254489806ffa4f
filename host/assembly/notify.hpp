// Tells the service manager how far we are (sd_notify): nothing happens when none has asked.
#pragma once

#include <string_view>

namespace davit::host {

void notify(std::string_view state);  // "READY=1", "STOPPING=1"

}  // namespace davit::host
