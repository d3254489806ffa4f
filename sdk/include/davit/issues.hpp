// Every condition that an agent tells of as an issue: of an object, of a kind, or of itself.
// Whoever counts or explains issues goes by this list.
#pragma once

#include <array>

#include "abi/storage.h"

namespace davit::issues {

// The agent's cluster lacks something that the kind needs; the name is the thing's, the id is
// empty.
inline constexpr const char* missing = "missing";
// Somebody else keeps changing the record's object.
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
