// Syncer: keeps count of the objects that are not in step, and says how each stands.
#include <algorithm>

#include "objects.hpp"
#include "syncer.hpp"

namespace davit::federation {

void Syncer::note(Memory& memory, const Action& action) {
  note(memory, action.standing, action.does, action.why);
}

void Syncer::note(Memory& memory, Standing standing, Does does, const std::string& why) {
  const auto count = [this](Standing s, bool more) {
    size_t& open = open_[static_cast<size_t>(s)];
    more ? ++open : --open;
    open_gauges_[s].set(static_cast<double>(open));
  };
  const size_t& contested = open_[static_cast<size_t>(Standing::conflicting)];
  const bool before = contested > 0;
  if (memory.open && memory.open->standing != standing) count(memory.open->standing, false);
  if (standing == Standing::in_step) {
    memory.open.reset();
    if (before != (contested > 0)) around_.told();
    return;
  }
  if (!memory.open) memory.open = std::make_unique<Open>(Open{now(), Standing::in_step, {}, {}});
  Open& open = *memory.open;
  if (open.standing != standing) count(standing, true);
  open.standing = standing;
  open.does = does;
  open.why = why;
  if (before != (contested > 0)) around_.told();
}

SideReport Syncer::report_of(const End& end) const {
  SideReport out;
  out.complete = end.was_complete;
  out.final = end.cache.refused();
  out.reason = end.cache.reason();
  out.age = now() - end.since;
  out.objects = end.cache.size();
  return out;
}

ResourceReport Syncer::report(const Question& question) const {
  ResourceReport out;
  out.rules = rules_;
  out.ns = ns_;
  out.trouble = trouble();
  out.busy = queue_.running() > 0 || (queue_.due() && *queue_.due() <= now());
  out.upstream = report_of(ends_[upstream]);
  out.downstream = report_of(ends_[downstream]);
  const bool seen = out.upstream.complete && out.downstream.complete;
  const Time unseen = std::max(out.upstream.complete ? Time(0) : out.upstream.age,
                               out.downstream.complete ? Time(0) : out.downstream.age);
  for (const auto& [key, memory] : memory_) {
    if (!question.object.empty() && key != question.object &&
        controller::split_key(key).second != question.object)
      continue;
    ObjectReport object{key, Standing::in_step, Does::nothing, "", Time(0)};
    if (memory.open) {
      const Open& open = *memory.open;
      object = {key, open.standing, open.does, open.why, now() - open.since};
    } else if (!seen) {
      object = {key, Standing::unknown, Does::nothing, "a side is not seen", unseen};
    }
    StandingReport& standing = out.standings[object.standing];
    ++standing.objects;
    standing.oldest = std::max(standing.oldest, object.age);
    if (object.standing != Standing::in_step || !question.object.empty())
      out.objects.push_back(std::move(object));
  }
  std::ranges::stable_sort(out.objects, std::greater(), &ObjectReport::age);
  if (out.objects.size() > question.objects_max) {
    out.left_out = out.objects.size() - question.objects_max;
    out.objects.resize(question.objects_max);
  }
  return out;
}

void Syncer::guard() {
  unguarded_ = false;
  Holds::Keys lost;
  size_t copies = 0;
  for (const std::string& key : ends_[downstream].cache.keys()) {
    const Action action = decided(key, memory_[key]);
    copies += action.standing != Standing::not_ours;
    if (action.does == Does::remove && action.gone) lost.insert(key);
  }
  std::erase_if(released_, [&](const std::string& key) { return lost.erase(key) == 0; });
  const Holds::Keys before = held_;
  std::erase_if(held_, [&](const std::string& key) { return !lost.contains(key); });
  const GuardLimits& limits = around_.limits.guard;
  if (holds(limits, lost.size(), copies)) {
    held_ = lost;
    around_.host.error("upstream's list has lost many objects at once: deletes are held",
                       {{"resource", rules_.name},
                        {"namespace", ns_},
                        {"held", std::to_string(lost.size())},
                        {"copies", std::to_string(copies)},
                        {"release", "davit federation release " + rules_.name}});
  }
  held_gauge_.set(static_cast<double>(held_.size()));
  if (held_ != before && !around_.rehearses) around_.holds->set(rules_.name, ns_, held_);
}

void Syncer::held_no_longer(const std::string& key) {
  const auto memory = memory_.find(key);
  const Open* open = memory == memory_.end() ? nullptr : memory->second.open.get();
  if (open != nullptr && (open->standing == Standing::held || open->standing == Standing::unknown))
    return;
  if (held_.erase(key) == 0) return;
  held_gauge_.set(static_cast<double>(held_.size()));
  if (held_.empty()) {
    around_.host.info("no delete is held any more",
                      {{"resource", rules_.name}, {"namespace", ns_}});
    around_.holds->set(rules_.name, ns_, held_);
  }
  around_.told();
}

size_t Syncer::release() {
  const Holds::Keys released = std::exchange(held_, {});
  if (released.empty()) return 0;
  released_.insert(released.begin(), released.end());
  around_.host.info("held deletes are released: an operator asked for it",
                    {{"resource", rules_.name},
                     {"namespace", ns_},
                     {"objects", std::to_string(released.size())}});
  held_gauge_.set(0);
  around_.holds->set(rules_.name, ns_, held_);
  for (const std::string& key : released) queue_.add(key, now());
  around_.told();
  pump();
  return released.size();
}

// What would be written stands in the report.
void Syncer::rehearse(Look look) {
  Memory& memory = memory_[look.key];
  const bool hidden_perhaps = look.action.does == Does::create && !rules_.selector.empty();
  if (!hidden_perhaps || memory.looked_for) return finish(look);
  memory.looked_for = true;
  read(std::move(look));
}

}  // namespace davit::federation
