#include "foreign_incarnations.hpp"

namespace davit::applier {
namespace {

constexpr std::chrono::seconds on_its_way{15};
// Bounds the memory: anybody may write any incarnation into an annotation.
constexpr size_t many = 256;

}  // namespace

void ForeignIncarnations::seen(Incarnation incarnation, std::chrono::nanoseconds now) {
  if (!known_->contains(incarnation) && seen_.size() < many) seen_.emplace(incarnation, now);
}

bool ForeignIncarnations::confirmed(std::chrono::nanoseconds now) {
  if (seen_.empty()) return false;
  Incarnations known = *known_;
  if (known.size() >= many) known.clear();
  const size_t told = std::erase_if(seen_, [&](const auto& s) {
    if (now - s.second < on_its_way) return false;
    known.insert(s.first);
    return true;
  });
  if (told != 0) known_ = std::make_shared<const Incarnations>(std::move(known));
  return told != 0;
}

void ForeignIncarnations::forget() {
  seen_.clear();
  known_ = std::make_shared<const Incarnations>();
}

}  // namespace davit::applier
