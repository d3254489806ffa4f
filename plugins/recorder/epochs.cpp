#include "epochs.hpp"

namespace davit::recorder {

uint64_t Epochs::taken(const Progress& said) const {
  const auto it = regions_.find(said.region);
  if (it == regions_.end() || known(said)) return 0;
  return it->second.epoch >= said.epoch ? it->second.epoch : 0;
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

void Epochs::told(const Progress& said, uint64_t taken) {
  heard({said.region, said.agent, {}, taken + 1, {}, {}, 0});
}

void Epochs::reported(const std::string& region, uint64_t epoch) {
  Greatest& greatest = regions_[region];
  if (epoch > greatest.epoch) greatest = {epoch, {}};
}

uint64_t Epochs::above(const std::string& region) const {
  const auto it = regions_.find(region);
  return it == regions_.end() ? 0 : it->second.epoch + 1;
}

}  // namespace davit::recorder
