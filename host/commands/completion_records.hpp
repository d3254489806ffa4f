// Completes kinds, regions and ids from the running server. A person waits for it at each Tab: it
// takes what it gets within a short time, and says nothing if there is no server.
#pragma once

#include "completion.hpp"

namespace davit::host {

// Adds the candidates that `completion.records` asks for. Without a server it adds none.
void add_known_records(Completion& completion);

}  // namespace davit::host
