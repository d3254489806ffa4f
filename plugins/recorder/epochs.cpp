#include "epochs.hpp"

namespace davit::recorder {

Epoch Epochs::taken(const Progress& said) const {
  const auto it = regions_.find(said.region);
  if (it == regions_.end() || known(said)) return {};
  return it->second.epoch >= said.epoch ? it->second.epoch : Epoch();
}

bool Epochs::known(const Progress& said) const {
  const auto it = regions_.find(said.region);
  if (it == regions_.end() || it->second.epoch != said.epoch) return false;
  return it->second.agent == said.agent || it->second.agent.empty();
}

void Epochs::heard(const Progress& said) {
  Greatest& greatest = regions_[said.region];
  // The agent's statuses may have come before its first Progress.
  const bool its_own = said.epoch == greatest.epoch && greatest.agent.empty();
  if (said.epoch > greatest.epoch || its_own) greatest = {said.epoch, said.agent};
}

void Epochs::told(const Progress& said, Epoch taken) {
  heard({said.region, said.agent, {}, taken.next(), {}, {}, 0});
}

void Epochs::reported(const std::string& region, Epoch epoch) {
  Greatest& greatest = regions_[region];
  if (epoch > greatest.epoch) greatest = {epoch, {}};
}

Epoch Epochs::above(const std::string& region) const {
  const auto it = regions_.find(region);
  return it == regions_.end() ? Epoch() : it->second.epoch.next();
}

}  // namespace davit::recorder
