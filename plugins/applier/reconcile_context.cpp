#include "reconcile_context.hpp"

namespace davit::applier {

bool Ensured::contains(const std::string& path) const {
  std::lock_guard lock(mutex_);
  return paths_.contains(path);
}
void Ensured::add(const std::string& path) {
  std::lock_guard lock(mutex_);
  paths_.insert(path);
}
void Ensured::forget(const std::string& path) {
  std::lock_guard lock(mutex_);
  paths_.erase(path);
}

}  // namespace davit::applier
