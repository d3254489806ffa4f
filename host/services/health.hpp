// The health that each instance reports. The worst of them is the health of the whole host. [any]
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <davit/abi/services.h>

namespace davit::host {

class Health {
 public:
  struct Entry {
    std::string instance;
    int32_t health = DAVIT_HEALTH_STARTING;
    std::string reason;
    // True if the readiness probe should succeed.
    bool ready() const { return health == DAVIT_HEALTH_SERVING || health == DAVIT_HEALTH_DEGRADED; }
  };
  void set(std::string_view instance, int32_t health, std::string_view reason);
  // Sets the health of a plugin that reports none itself. No effect once the instance is not
  // STARTING, or if it gave a reason for STARTING.
  void set_if_starting(std::string_view instance, int32_t health);
  // The instance with the worst health, in the order: not serving, starting, degraded, serving.
  // Without instances: starting.
  Entry worst() const;
  std::vector<Entry> all() const;  // by name
  // Sets the one listener; an empty function removes it. It runs after every change, on the thread
  // that made the change.
  void on_change(std::function<void()> listener);
  static const char* word(int32_t health);  // "starting", "serving", "degraded", "not serving"
  static int badness(int32_t health);       // 0 serving, 1 degraded, 2 starting, 3 not serving

 private:
  void changed();

  mutable std::mutex mutex_;
  std::function<void()> listener_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace davit::host
