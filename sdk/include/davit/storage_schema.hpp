// Optional, beside the role storage: the schema of a store that a command makes and changes.
// abi/storage_schema.h has the contract. storage::SchemaRole makes the table of a backend that also
// has
//
//   Result<std::vector<std::string>> migrate(const Op&, bool dry_run);  // one line for each step
//
// storage::Schemas is the other end: it calls the table. It blocks: call it on the storage's pool.
#pragma once

#include "abi/storage_schema.h"
#include "flags.hpp"
#include "lookup.hpp"
#include "plugin.hpp"

namespace davit::storage {

struct SchemaRole {
  static constexpr std::string_view id = DAVIT_STORAGE_SCHEMA;

  template <class T>
  static const void* vtable() {
    static const davit_storage_schema table = {
        sizeof(davit_storage_schema), 0,
        [](davit_instance* i, const davit_op* op, uint32_t flags, const davit_sink* steps,
           davit_error* e) {
          return guard(e, [&]() -> Result<> {
            auto known = understood("davit_storage_schema.migrate", flags, DAVIT_MIGRATE_DRY_RUN);
            if (!known.ok()) return known;
            auto r = detail::object<T>(i).migrate(Op(op), (flags & DAVIT_MIGRATE_DRY_RUN) != 0);
            if (!r.ok()) return r.error();
            for (const std::string& step : *r) emit(steps, step + "\n");
            return {};
          });
        }};
    return &table;
  }
};

// Calls the schema table of a storage instance.
class Schemas {
 public:
  explicit Schemas(davit_ref ref)
      : ref_(ref), vtable_(static_cast<const davit_storage_schema*>(ref.vtable)) {}

  // The steps that were made, or with `dry_run` would be made: whole lines.
  Result<std::string> migrate(const Op& op, bool dry_run) const {
    StringSink steps;
    auto r = checked(
        [&](davit_error* e) {
          return vtable_->migrate(ref_.self, op.abi(), dry_run ? DAVIT_MIGRATE_DRY_RUN : 0,
                                  steps.get(), e);
        },
        steps);
    if (!r.ok()) return r.error();
    return steps.take();
  }

 private:
  davit_ref ref_;
  const davit_storage_schema* vtable_;
};

}  // namespace davit::storage
