// Finds how many replicas a record asks for: the `desired` of a status whose reporter, a Krane
// agent, does not send it. The kind decides, by a reconciliation without observed objects.
#pragma once

#include <davit/kind.hpp>

namespace davit::recorder {

// Nothing: the kind cannot render the record, or its status has no such integer. An error is
// retryable: the kind cannot answer now. On the kind's pool.
Result<std::optional<int64_t>> wanted_of(const kind::Client& kind, const Schema& schema,
                                         const Record& record);

}  // namespace davit::recorder
