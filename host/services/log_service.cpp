#include "instance_host.hpp"
#include "log.hpp"
#include "tables.hpp"

namespace davit::host {

const davit_log& log_service() {
  static const davit_log table = {sizeof(davit_log),
                                  [](const davit_host* h, int32_t level) noexcept {
                                    return instance(h).core->log.enabled(level) ? 1 : 0;
                                  },
                                  [](const davit_host* h, int32_t level, davit_str message,
                                     const davit_pair* fields, size_t count) noexcept {
                                    instance(h).core->log.write(level, instance(h).name,
                                                                view(message), fields, count);
                                  }};
  return table;
}

}  // namespace davit::host
