// KindGuard: the table of a kind as the instances of a test get it. Like the host, it refuses the
// slots that may block in a task of a strand. describe passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <tuple>

#include <davit/abi/kind.h>

#include "runtime.hpp"

namespace davit::testing {

class KindGuard {
 public:
  explicit KindGuard(davit_ref behind) : behind_(behind) {
    const davit_kind& real = *table_of(behind);
    std::memcpy(&own_, &real, std::min<size_t>(sizeof own_, real.struct_size));
    own_.struct_size = sizeof own_;
    pass<&davit_kind::describe>();
    refuse<&davit_kind::identify>();
    refuse<&davit_kind::validate>();
    refuse<&davit_kind::classify>();
    refuse<&davit_kind::reconcile>();
    refuse<&davit_kind::attribute>();
    refuse<&davit_kind::delete_message>();
    refuse<&davit_kind::to_report>();
    refuse<&davit_kind::from_report>();
    refuse<&davit_kind::apply_message>();
  }
  KindGuard(const KindGuard&) = delete;
  KindGuard& operator=(const KindGuard&) = delete;

  bool guards(davit_ref other) const {
    return behind_.self == other.self && behind_.vtable == other.vtable;
  }
  davit_ref ref() { return {reinterpret_cast<davit_instance*>(this), &own_, behind_.instance}; }

 private:
  template <auto Member>
  struct Forward;
  template <class R, class... A, R (*davit_kind::*Member)(davit_instance*, A...)>
  struct Forward<Member> {
    static R call(davit_instance* i, A... args) {
      KindGuard& g = *reinterpret_cast<KindGuard*>(i);
      return (table_of(g.behind_)->*Member)(g.behind_.self, args...);
    }
    static R guarded(davit_instance* i, A... args) {
      if (!Runtime::on_a_strand()) return call(i, args...);
      const Error wrong{Code::internal,
                        "a slot of a kind, which may block, is called in a task of a strand: call "
                        "it on a pool"};
      davit_error* const error = std::get<sizeof...(A) - 1>(std::tuple<A...>(args...));
      return fill(error, wrong);
    }
  };
  template <auto Member>
  void pass() {
    if (own_.*Member != nullptr) own_.*Member = &Forward<Member>::call;
  }
  template <auto Member>
  void refuse() {
    if (own_.*Member != nullptr) own_.*Member = &Forward<Member>::guarded;
  }
  static const davit_kind* table_of(davit_ref ref) {
    return static_cast<const davit_kind*>(ref.vtable);
  }

  const davit_ref behind_;
  davit_kind own_{};
};

}  // namespace davit::testing
