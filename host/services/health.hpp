// How each instance says it is, and what that makes of the whole host: the worst of all. [any]
#pragma once

#include <cstdint>
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
  };
  void set(std::string_view instance, int32_t health, std::string_view reason);
  // For a plugin that says nothing of itself.
  void set_if_starting(std::string_view instance, int32_t health);
  // The worst of all: not serving, starting, degraded, serving; the instance that makes it so. No
  // instance: starting.
  Entry worst() const;
  std::vector<Entry> all() const;           // by name
  static const char* word(int32_t health);  // "starting", "serving", "degraded", "not serving"

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace davit::host
