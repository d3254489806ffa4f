// Syncer: says what does not go as it should, in the log, in the metrics and for the health.
#include "syncer.hpp"

namespace davit::federation {

void Syncer::say_stuck(const std::string& key, Memory& memory, const std::string& why) {
  if (memory.trouble == why) return;
  memory.trouble = why;
  stuck_.insert(key);
  stuck_gauge_.set(static_cast<double>(stuck_.size()));
  around_.host.warn("an object does not go to the other cluster, or its status does not",
                    {{"resource", rules_.name}, {"object", key}, {"reason", why}});
  around_.told();
}

void Syncer::say_no_longer_stuck(const std::string& key, Memory& memory) {
  if (memory.trouble.empty()) return;
  memory.trouble.clear();
  memory.ask_again = Time(0);
  stuck_.erase(key);
  stuck_gauge_.set(static_cast<double>(stuck_.size()));
  around_.host.info("an object that was stuck goes on",
                    {{"resource", rules_.name}, {"object", key}});
  around_.told();
}

void Syncer::say_failing(Does does, const std::string& why) {
  if (!std::exchange(failing_[does], why).empty()) return;
  around_.host.warn("writes fail and are tried again",
                    {{"resource", rules_.name}, {"write", name_of(does)}, {"reason", why}});
  around_.told();
}

void Syncer::say_working(Does does) {
  if (failing_.erase(does) == 0) return;
  around_.host.info("writes succeed again", {{"resource", rules_.name}, {"write", name_of(does)}});
  around_.told();
}

std::string Syncer::trouble() const {
  const std::string where = ns_.empty() ? rules_.name : rules_.name + " in " + ns_;
  for (const Side side : {upstream, downstream}) {
    const std::string reason = ends_[side].cache.reason();
    if (reason.empty()) continue;
    return where + (side == upstream ? " upstream: " : " downstream: ") + reason;
  }
  if (!held_.empty()) {
    return where + ": upstream's list has lost many objects at once, so " +
           std::to_string(held_.size()) +
           " deletes are held: bring the objects back upstream, or let the deletes go with davit "
           "federation release " +
           rules_.name;
  }
  if (!failing_.empty()) {
    return where + ": " + name_of(failing_.begin()->first) + " fails: " + failing_.begin()->second;
  }
  if (stuck_.empty()) {
    const size_t contested = open_[static_cast<size_t>(Standing::conflicting)];
    if (contested == 0) return {};
    return where + ": somebody keeps changing " + std::to_string(contested) +
           " objects, or their status upstream";
  }
  const std::string& first = *stuck_.begin();
  const auto memory = memory_.find(first);
  return where + ": " + std::to_string(stuck_.size()) + " objects are stuck, such as " + first +
         ": " + (memory == memory_.end() ? "" : memory->second.trouble);
}

}  // namespace davit::federation
