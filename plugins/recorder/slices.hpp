// Stores the statuses of one report, a few in each transaction (statuses_per_transaction_max). So a
// transaction is short, and another region's write waits for one of them at most.
#pragma once

#include <memory>

#include "shared.hpp"

namespace davit::recorder {

// Calls `done` once, on any thread: with the first failure, or when all are stored. A caller that
// gives up leaves out the slices that have not begun.
void store_in_slices(Shared& shared, const Operation& caller, std::vector<Status> statuses,
                     std::function<void(Result<>)> done);

}  // namespace davit::recorder
