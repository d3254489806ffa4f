#include "instance_host.hpp"
#include "tables.hpp"

namespace davit::host {

const davit_lookup& lookup_service() {
  static const davit_lookup table = {
      sizeof(davit_lookup),
      [](const davit_host* h, davit_str name, davit_str interface, davit_ref* out,
         davit_error* error) {
        return guard(error, [&]() -> Result<> {
          auto found = instance(h).neighbours->find(instance(h).name, view(name), view(interface));
          if (!found.ok()) return found.error();
          *out = *found;
          return {};
        });
      },
      [](const davit_host* h, davit_str interface, void* ctx,
         void (*visit)(void*, const davit_ref*)) noexcept {
        for (const davit_ref& ref : instance(h).neighbours->each(instance(h).name, view(interface)))
          visit(ctx, &ref);
      }};
  return table;
}

}  // namespace davit::host
