#include "stalls.hpp"

#include "runtime/step.hpp"
#include "services/log.hpp"

namespace davit::host {
namespace {

const char* what_it_holds(Step::Kind kind) {
  if (kind == Step::Kind::task) return "a worker and its strand";
  return kind == Step::Kind::life ? "the host's start or stop" : "a thread of its pool";
}

std::chrono::nanoseconds allowed(Step::Kind kind, std::chrono::milliseconds limit) {
  constexpr int longer_when_it_may_block = 6;
  if (kind == Step::Kind::job) return std::chrono::nanoseconds::max();
  return kind == Step::Kind::blocking_call ? longer_when_it_may_block * limit : limit;
}

}  // namespace

void Stalls::look() {
  for (auto& [number, told] : told_) told.there = false;
  for (const Step::Seen& step : Step::all()) {
    if (const auto known = told_.find(step.number); known != told_.end()) {
      known->second.there = true;
      continue;
    }
    if (step.held < allowed(step.kind, limit_)) continue;
    told_[step.number] = {step.who->instance, step.what};
    log_.warn(step.who->instance, "does not return",
              {{"doing", step.what},
               {"called_by", step.caller == nullptr ? "host" : step.caller->instance},
               {"holds", what_it_holds(step.kind)},
               {"for_ms",
                std::to_string(std::chrono::ceil<std::chrono::milliseconds>(step.held).count())}});
  }
  std::erase_if(told_, [this](const auto& entry) {
    const Told& told = entry.second;
    if (!told.there) log_.info(told.instance, "has returned after all", {{"doing", told.doing}});
    return !told.there;
  });
}

}  // namespace davit::host
