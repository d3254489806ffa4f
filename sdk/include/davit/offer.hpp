// What a plugin offers to a command of davit that asks it once, without running the configuration.
// davit and the plugin are of one release, so this is no part of the ABI that other plugins may
// rely on. A role of this kind says which two methods of the plugin are meant:
//
//   // Legal after wire: from start on it does nothing by itself.
//   void hold();
//   // Legal after start: blocks, and returns what the command shows.
//   Result<std::string> answer(const Op&);
#pragma once

#include "plugin.hpp"

namespace davit {

struct Offer {
  int32_t (*hold)(davit_instance*, davit_error*);
  int32_t (*answer)(davit_instance*, const davit_op*, const davit_sink* text, davit_error*);
};

template <class T, void (T::*Hold)(), Result<std::string> (T::*Answer)(const Op&)>
const Offer* offer_table() {
  static const Offer table = {
      [](davit_instance* i, davit_error* e) {
        return guard(e, [&]() -> Result<> {
          (detail::object<T>(i).*Hold)();
          return {};
        });
      },
      [](davit_instance* i, const davit_op* op, const davit_sink* text, davit_error* e) {
        return guard(e, [&]() -> Result<> {
          auto out = (detail::object<T>(i).*Answer)(Op(op));
          if (!out.ok()) return out.error();
          emit(text, *out);
          return {};
        });
      }};
  return &table;
}

// `davit federation check`: what the plugin would do, before it is switched on. From start on it
// decides and writes nothing. The answer is an encoded davit.v1.FederationReview.
struct RehearsalRole {
  static constexpr std::string_view id = "davit.rehearsal/1";
  template <class T>
  static const void* vtable() {
    return offer_table<T, &T::rehearse, &T::review>();
  }
};

// `davit clusters install`: makes what the plugin needs in a cluster before it can work, such as
// the definitions of its resources. The answer has a line for each thing: "clusters.cluster.k8s.io
// is created".
struct InstallationRole {
  static constexpr std::string_view id = "davit.installation/1";
  template <class T>
  static const void* vtable() {
    return offer_table<T, &T::hold, &T::install>();
  }
};

}  // namespace davit
