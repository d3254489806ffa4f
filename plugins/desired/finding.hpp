// Reads of records that operators and controllers share: one record, and one page of a list. Both
// block: on the storage's pool.
#pragma once

#include <davit/records_role_values.hpp>

#include "shared.hpp"

namespace davit::desired {

// What a page of a list may hold at most.
constexpr uint32_t list_records_max = 1000;
constexpr uint64_t list_bytes_max = 8 << 20;

// The records that match. None is no error, unless the kind is mistyped. `storage` is under the
// call's op.
Result<records::Found> find(const Shared& shared, const storage::Client& storage,
                            const Query& query);
// Stopped and archived records are listed, too.
Result<records::Found> list(const Shared& shared, const storage::Client& storage,
                            const records::Read& read);

}  // namespace davit::desired
