// How each instance says it is, and what that makes of the whole host: the worst of all. [any]
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
    // Whether those who ask for readiness are to be sent here.
    bool ready() const { return health == DAVIT_HEALTH_SERVING || health == DAVIT_HEALTH_DEGRADED; }
  };
  void set(std::string_view instance, int32_t health, std::string_view reason);
  // For a plugin that says nothing of itself.
  void set_if_starting(std::string_view instance, int32_t health);
  // The worst of all: not serving, starting, degraded, serving; the instance that makes it so. No
  // instance: starting.
  Entry worst() const;
  std::vector<Entry> all() const;  // by name
  // Runs after every change, on the thread that made it; one listener, an empty one to end it.
  void on_change(std::function<void()> listener);
  static const char* word(int32_t health);  // "starting", "serving", "degraded", "not serving"

 private:
  void changed();

  mutable std::mutex mutex_;
  std::function<void()> listener_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace davit::host
