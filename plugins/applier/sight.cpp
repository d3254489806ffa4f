#include "sight.hpp"

#include <davit/rfc3339.hpp>

namespace davit::applier {

void Sight::begin(Moment now) {
  trouble("its first picture has not come", now);
}

void Sight::refused(std::string why, Moment now) {
  trouble(std::move(why), now);
  blind_ = refused_ = true;
}

void Sight::cut(std::string why, Moment now) {
  trouble(std::move(why), now);
}

void Sight::restarted(Moment now) {
  restarting_ = true;
  if (!troubled_) trouble("its picture is being made anew", now);
}

void Sight::event() {
  if (whole_ && !restarting_ && !refused_) clear();
}

void Sight::synced() {
  whole_ = true;
  restarting_ = false;
  clear();
}

void Sight::expire(Time now) {
  if (troubled_ && now - since_.at >= patience_) blind_ = true;
}

std::optional<Sight::Time> Sight::due() const {
  if (!troubled_ || blind_) return std::nullopt;
  return since_.at + patience_;
}

std::string Sight::reason() const {
  return blind_ ? "since " + rfc3339(since_.unix_ms) + ": " + why_ : std::string();
}

void Sight::trouble(std::string why, Moment now) {
  if (!troubled_) since_ = now;
  troubled_ = true;
  why_ = std::move(why);
}

}  // namespace davit::applier
