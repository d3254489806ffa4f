// Runs something after a while of the simulation's time.
#pragma once

#include <davit/host.hpp>

namespace davit::simulation {

inline void later(const Strand& strand, std::chrono::nanoseconds delay,
                  std::function<void()> task) {
  using Task = std::function<void()>;
  strand.exec()->timer(
      strand.get(), delay.count(),
      [](void* arg, int32_t fired) {
        const std::unique_ptr<Task> held(static_cast<Task*>(arg));
        if (fired != 0) (*held)();
      },
      new Task(std::move(task)));
}

}  // namespace davit::simulation
