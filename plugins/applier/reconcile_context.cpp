#include "reconcile_context.hpp"

namespace davit::applier {

bool Ensured::contains(const std::string& path) {
  const std::lock_guard lock(mutex_);
  if (recent_.contains(path)) return true;
  if (!older_.contains(path)) return false;
  remember(path);
  return true;
}

void Ensured::add(const std::string& path) {
  const std::lock_guard lock(mutex_);
  remember(path);
}

void Ensured::remember(std::string path) {
  if (recent_.size() >= recent_max_) older_ = std::exchange(recent_, {});
  older_.erase(path);
  recent_.insert(std::move(path));
}

void Ensured::forget(const std::string& path) {
  const std::lock_guard lock(mutex_);
  recent_.erase(path);
  older_.erase(path);
}

void Ensured::turn() {
  const std::lock_guard lock(mutex_);
  older_ = std::exchange(recent_, {});
}

size_t Ensured::size() const {
  const std::lock_guard lock(mutex_);
  return recent_.size() + older_.size();
}

}  // namespace davit::applier
