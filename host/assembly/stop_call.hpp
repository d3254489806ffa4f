// Stops one instance on a thread of its own, so that an instance that hangs does not hang the host.
#pragma once

#include <chrono>
#include <optional>

#include <davit/types.hpp>

namespace davit::host {

class Instance;

// At the deadline the operation is cancelled. If the plugin still runs one second later, returns
// nothing.
std::optional<Result<>> stop_within(Instance& instance,
                                    std::chrono::steady_clock::time_point deadline);

}  // namespace davit::host
