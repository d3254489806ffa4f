// Slices: the statuses of one report on their way into the store, a few at a time. A transaction is
// short, so that another region's waits for no more than one of them.
#pragma once

#include <memory>

#include "shared.hpp"

namespace davit::recorder {

// `done` is called once, with the first failure or when all are stored; any thread.
void store_in_slices(Shared& shared, std::vector<Status> statuses,
                     std::function<void(Result<>)> done);

}  // namespace davit::recorder
