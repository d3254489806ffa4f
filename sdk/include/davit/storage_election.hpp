// Optional, beside the role storage: which of the servers that share a store leads.
// abi/storage_election.h has the contract. storage::ElectionRole makes the table of a backend that
// also has
//
//   bool leads() const;  // [any]
//
// storage::Election is the other end: it calls the table.
#pragma once

#include "abi/storage_election.h"
#include "lookup.hpp"
#include "plugin.hpp"

namespace davit::storage {

struct ElectionRole {
  static constexpr std::string_view id = DAVIT_STORAGE_ELECTION;

  template <class T>
  static const void* vtable() {
    static const davit_storage_election table = {
        sizeof(davit_storage_election), 0, [](davit_instance* i) -> int32_t {
          return must_not_throw("davit_storage_election.leads",
                                [&] { return detail::object<T>(i).leads() ? 1 : 0; });
        }};
    return &table;
  }
};

// Asks a storage instance. [any]
class Election {
 public:
  Election() = default;
  explicit Election(davit_ref ref) : ref_(ref) {}
  // Of the storage instance with this name. A storage without the table is led by everybody.
  static Election of(const Host& host, std::string_view storage) {
    auto ref = davit::find(host, storage, DAVIT_STORAGE_ELECTION);
    return ref.ok() ? Election(*ref) : Election();
  }
  bool leads() const {
    const auto* table = static_cast<const davit_storage_election*>(ref_.vtable);
    return table == nullptr || table->leads(ref_.self) != 0;
  }

 private:
  davit_ref ref_{};
};

}  // namespace davit::storage
