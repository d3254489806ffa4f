// Optional, beside the role kind: what a kind needs of its cluster beyond its description.
// abi/kind_needs.h has the contract. kind::NeedsRole makes the table of a kind that also has
//
//   std::vector<kind::Need> needs() const;
//
// kind::all_needs reads the needs of every kind.
#pragma once

#include <map>

#include "abi/kind_needs.h"
#include "kind.hpp"

namespace davit::kind {

// Rights besides those that a resource's role implies, or an object that must exist. A need with
// neither only names the setting that makes the resource unnecessary.
struct Need {
  std::string group, version, resource;
  std::string name{};                // of the object; empty: the need is about the resource
  std::vector<std::string> verbs{};  // besides those that the role implies
  std::string setting{};             // "autoscaling = false"; empty: no setting removes the need
};

struct NeedsRole {
  static constexpr std::string_view id = DAVIT_KIND_NEEDS;

  template <class T>
  static const void* vtable() {
    static const davit_kind_needs table = {
        sizeof(davit_kind_needs), 0, [](davit_instance* i, davit_visit_kind_need visit, void* ctx) {
          must_not_throw("davit_kind_needs.needs", [&] {
            const T& kind = *reinterpret_cast<const T*>(i);
            for (const Need& need : kind.needs())
              tell(kind.described().get().kind, need, visit, ctx);
          });
        }};
    return &table;
  }

 private:
  static void tell(const std::string& kind, const Need& need, davit_visit_kind_need visit,
                   void* ctx) {
    std::vector<davit_str> verbs;
    for (const auto& verb : need.verbs) verbs.push_back(str(verb));
    const davit_kind_need abi{sizeof(davit_kind_need),
                              static_cast<uint32_t>(verbs.size()),
                              str(kind),
                              str(need.group),
                              str(need.version),
                              str(need.resource),
                              str(need.name),
                              verbs.data(),
                              str(need.setting)};
    visit(ctx, &abi);
  }
};

// Copies a need, without its kind.
inline Need need_of(const davit_kind_need& n) {
  Need out{text(n.group), text(n.version), text(n.resource), text(n.name)};
  for (uint32_t v = 0; v < n.verbs_count; ++v) out.verbs.push_back(text(n.verbs[v]));
  out.setting = text(n.setting);
  return out;
}

using Needs = std::map<std::string, std::vector<Need>, std::less<>>;  // by kind

// The needs of every kind of this process. Only in wire().
inline Needs all_needs(const Host& host) {
  Needs out;
  Visitor visitor([&out](const davit_kind_need& n) { out[text(n.kind)].push_back(need_of(n)); });
  for (const auto& ref : each(host, DAVIT_KIND_NEEDS)) {
    static_cast<const davit_kind_needs*>(ref.vtable)->needs(ref.self, visitor, &visitor);
    visitor.rethrow();
  }
  return out;
}

}  // namespace davit::kind
