// Optional, for a plugin of any role: the rights that its account needs in another system, which
// `davit check --rights` prints. abi/rights.h has the contract. RightsRole makes the table of a
// plugin that also has
//
//   std::string rights() const;  // YAML of a ClusterRole
#pragma once

#include "abi/rights.h"
#include "plugin.hpp"

namespace davit {

struct RightsRole {
  static constexpr std::string_view id = DAVIT_RIGHTS;

  template <class T>
  static const void* vtable() {
    static const davit_rights table = {
        sizeof(davit_rights), 0, [](davit_instance* i, const davit_sink* text, davit_error* e) {
          return guard(e, [&]() -> Result<> {
            emit(text, reinterpret_cast<const T*>(i)->rights());
            return {};
          });
        }};
    return &table;
  }
};

}  // namespace davit
