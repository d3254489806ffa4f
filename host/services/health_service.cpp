#include "health.hpp"
#include "instance_host.hpp"
#include "tables.hpp"

namespace davit::host {

const davit_health& health_service() {
  static const davit_health table = {
      sizeof(davit_health), [](const davit_host* h, int32_t health, davit_str reason) noexcept {
        instance(h).core->health.set(instance(h).name, health, view(reason));
      }};
  return table;
}

}  // namespace davit::host
