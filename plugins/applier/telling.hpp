// Telling: what goes up about a record: its status when it has changed, and its issue when that
// begins, changes or ends. On the applier's strand.
#pragma once

#include <optional>

#include <davit/sink.hpp>

#include "slot.hpp"

namespace davit::applier {

class Telling {
 public:
  Telling(std::optional<sink::StatusClient> to, std::string region)
      : to_(std::move(to)), region_(std::move(region)) {}

  // Offers the status when it is not what was told last. Key, names and parked reason are filled in
  // here.
  void status(const std::string& kind, Slot& slot, Status status) const;
  // Condition empty: it ends.
  void issue(const std::string& kind, Slot& slot, const std::string& condition,
             const std::string& reason) const;

 private:
  std::optional<sink::StatusClient> to_;
  std::string region_;
};

}  // namespace davit::applier
