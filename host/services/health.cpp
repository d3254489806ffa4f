#include "health.hpp"

namespace davit::host {

int Health::badness(int32_t health) {
  switch (health) {
    case DAVIT_HEALTH_SERVING:
      return 0;
    case DAVIT_HEALTH_DEGRADED:
      return 1;
    case DAVIT_HEALTH_STARTING:
      return 2;
    default:
      return 3;
  }
}

const char* Health::word(int32_t health) {
  static constexpr const char* words[] = {"serving", "degraded", "starting", "not serving"};
  return words[badness(health)];
}

void Health::set(std::string_view instance, int32_t health, std::string_view reason) {
  {
    std::lock_guard lock(mutex_);
    entries_[std::string(instance)] = {std::string(instance), health, std::string(reason)};
  }
  changed();
}

void Health::set_if_starting(std::string_view instance, int32_t health) {
  {
    std::lock_guard lock(mutex_);
    auto it = entries_.find(instance);
    const bool starting = it != entries_.end() && it->second.health == DAVIT_HEALTH_STARTING;
    // A reason means that the plugin itself has reported that it is still starting.
    if (!starting || !it->second.reason.empty()) return;
    it->second.health = health;
  }
  changed();
}

void Health::on_change(std::function<void()> listener) {
  std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

// Calls the listener without the lock, because the listener reads the health.
void Health::changed() {
  std::function<void()> listener;
  {
    std::lock_guard lock(mutex_);
    listener = listener_;
  }
  if (listener) listener();
}

Health::Entry Health::worst() const {
  std::lock_guard lock(mutex_);
  Entry worst;
  for (const auto& [name, entry] : entries_) {
    if (worst.instance.empty() || badness(entry.health) > badness(worst.health)) worst = entry;
  }
  return worst;
}

std::vector<Health::Entry> Health::all() const {
  std::lock_guard lock(mutex_);
  std::vector<Entry> out;
  for (const auto& [name, entry] : entries_) out.push_back(entry);
  return out;
}

}  // namespace davit::host
