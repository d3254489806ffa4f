#include "epochs.hpp"

namespace davit::recorder {

uint64_t Epochs::taken(const Progress& said) const {
  const auto it = regions_.find(said.region);
  if (it == regions_.end() || known(said)) return 0;
  return it->second.epoch >= said.epoch ? it->second.epoch : 0;
}

bool Epochs::known(const Progress& said) const {
  const auto it = regions_.find(said.region);
  return it != regions_.end() && it->second.epoch == said.epoch && it->second.agent == said.agent;
}

void Epochs::heard(const Progress& said) {
  Greatest& greatest = regions_[said.region];
  if (said.epoch > greatest.epoch) greatest = {said.epoch, said.agent};
}

}  // namespace davit::recorder
