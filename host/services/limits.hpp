// What a storage may be asked to store: values inside the domains of abi/storage.h, and no more at
// once than the storage's limits. Pure.
#pragma once

#include <davit/storage_domain.hpp>

namespace davit::host {

// Nothing, or INTERNAL: limits that no storage may have (abi/storage.h).
std::optional<Error> fault_in(const storage::Limits& limits);

// Nothing, or INVALID_ARGUMENT. `where` is the id of the record or the field.
std::optional<Error> refuse(const Group& group, const storage::Limits& limits);
std::optional<Error> refuse(const Status& status, const storage::Limits& limits);

// Where a report ends that begins at the status `first` and keeps to the limits. It has at least
// one status.
size_t end_of_report(const std::vector<const Status*>& statuses, size_t first,
                     const storage::Limits& limits);

}  // namespace davit::host
