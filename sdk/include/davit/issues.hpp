// Every condition that an agent reports as an issue. An issue is about an object, a kind or the
// agent itself. Code that counts or explains issues uses this list.
#pragma once

#include <array>

#include "abi/storage.h"

namespace davit::issues {

// The agent's cluster lacks something that the kind needs. The name is what is missing, the id is
// empty.
inline constexpr const char* missing = "missing";
// Another writer keeps changing the record's object.
inline constexpr const char* contested = "contested";

inline constexpr std::array<const char*, 8> all = {DAVIT_ISSUE_PARKED,
                                                   DAVIT_ISSUE_HELD,
                                                   DAVIT_ISSUE_ORPHANED,
                                                   DAVIT_ISSUE_DELAYED,
                                                   DAVIT_ISSUE_BLIND,
                                                   DAVIT_ISSUE_DENIED,
                                                   missing,
                                                   contested};

}  // namespace davit::issues
