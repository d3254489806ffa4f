// The table of a storage that looks at flags and reserved members in a wrong way.
#pragma once

#include <davit/storage.hpp>

namespace davit::storage_naive {

// The role as a backend without the wrapper might have it, which looks at flags and reserved
// members in a wrong way when the instance is told so.
struct OwnTable {
  static constexpr std::string_view id = DAVIT_STORAGE;
  template <class T>
  static const void* vtable();
};

// The read slot alone is enough for the suite to judge.
template <class T>
const void* OwnTable::vtable() {
  static const auto* right = static_cast<const davit_storage*>(storage::Role::vtable<T>());
  static const davit_storage table = [] {
    davit_storage own = *right;
    own.read = [](davit_instance* i, const davit_op* op, const davit_read* q,
                  davit_visit_record visit, void* ctx, davit_page* out, davit_error* e) {
      const std::string& fault = davit::detail::object<T>(i).fault();
      davit_read read = *q;
      if (fault == "any_flags") read.flags &= DAVIT_READ_LINGERING;
      if (fault == "known_flags" && (read.flags & ~DAVIT_READ_LINGERING) != 0)
        return fill(e, {Code::unimplemented, "davit_read.flags has a bit too many"});
      if (fault == "reads_reserved" && read.reserved != 0) read.limit = 0;
      return right->read(i, op, &read, visit, ctx, out, e);
    };
    return own;
  }();
  return &table;
}

}  // namespace davit::storage_naive
