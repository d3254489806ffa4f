#include "shutdown.hpp"

#include "instance_host.hpp"
#include "tables.hpp"

namespace davit::host {

const davit_shutdown& shutdown_service() {
  using Clock = std::chrono::steady_clock;  // the host's monotonic clock
  static const davit_shutdown table = {
      sizeof(davit_shutdown),
      [](const davit_host* h, davit_str reason, int64_t deadline_ns) noexcept {
        const std::chrono::nanoseconds deadline(deadline_ns);
        instance(h).core->shutdown.request(instance(h).name, view(reason),
                                           Clock::time_point(deadline));
      }};
  return table;
}

}  // namespace davit::host
