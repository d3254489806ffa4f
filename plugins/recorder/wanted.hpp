// What a record asks of its kind, as a number: what `desired` of a status should be when the peer
// that reports it does not know. Pure; the kind decides.
#pragma once

#include <davit/kind.hpp>

namespace davit::recorder {

// Nothing: the kind cannot make anything of the record.
std::optional<int64_t> wanted_of(const kind::Client& kind, const Schema& schema,
                                 const Record& record);

}  // namespace davit::recorder
