#include "conditions.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "succession.hpp"

namespace davit::desired {

namespace {

// The message of a status begins so while its change keeps failing.
constexpr std::string_view retrying_prefix = "retrying: ";

bool names(const Progress& p, std::string_view kind) {
  return std::any_of(p.kinds.begin(), p.kinds.end(),
                     [kind](const KindProgress& k) { return k.kind == kind; });
}

// True: the two agents work side by side. Both have reported since the later one began (an epoch is
// the time of a start), so neither has taken the other's place.
bool beside(const Progress& a, const Progress& b) {
  const bool share = std::any_of(a.kinds.begin(), a.kinds.end(),
                                 [&b](const KindProgress& k) { return names(b, k.kind); });
  const int64_t both_seen = std::min(a.seen_at_unix_ms, b.seen_at_unix_ms);
  return share && both_seen > 0 &&
         Epoch(static_cast<uint64_t>(both_seen)) > std::max(a.epoch, b.epoch);
}

// The time since when an agent is blind. Its reason begins "since 2026-11-24T20:00:00.000Z: ".
std::optional<int64_t> since_unix_ms(const std::string& reason) {
  std::tm utc{};
  int ms = 0;
  const int read =
      std::sscanf(reason.c_str(), "since %4d-%2d-%2dT%2d:%2d:%2d.%3dZ", &utc.tm_year, &utc.tm_mon,
                  &utc.tm_mday, &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &ms);
  if (read < 6) return std::nullopt;
  utc.tm_year -= 1900;
  utc.tm_mon -= 1;
  return static_cast<int64_t>(timegm(&utc)) * 1000 + ms;
}

std::string listed(const std::vector<KindProgress>& kinds) {
  std::string out;
  for (const auto& k : kinds) out += (out.empty() ? "" : ", ") + k.kind;
  return out;
}

}  // namespace

std::string Conditions::key_of(std::string_view kind, std::string_view region,
                               std::string_view id) {
  std::string out;
  out.reserve(kind.size() + region.size() + id.size() + 2);
  return out.append(kind).append("\n").append(region).append("\n").append(id);
}

// The issues of an agent no longer count for the kinds that another agent has taken over.
Conditions::Conditions(std::vector<Agent> agents, Delayed delayed)
    : agents_(std::move(agents)), delayed_(std::move(delayed)) {
  Succession succession;
  for (const auto& a : agents_) succession.add(a.progress);
  for (auto& a : agents_) {
    a.taken_over = succession.taken_over(a.progress);
    std::erase_if(a.progress.issues, [&](const Issue& i) {
      return i.kind.empty() ? a.taken_over : succession.taken_over(a.progress, i.kind);
    });
  }
  for (const auto& a : agents_) {
    if (!a.taken_over) regions_[a.progress.region].push_back(&a);
    for (const auto& i : a.progress.issues) {
      if (!i.id.empty()) issues_.emplace(key_of(i.kind, a.progress.region, i.id), &i);
      if (i.id.empty() && i.condition == DAVIT_ISSUE_BLIND)
        blind_.insert({{i.kind, a.progress.region}, {i.reason, since_unix_ms(i.reason)}});
    }
  }
}

Condition Conditions::of(const Key& key, Version version, const Status* observed) const {
  if (const auto issue = issues_.find(key_of(key.kind, key.region, key.id)); issue != issues_.end())
    return {issue->second->condition, issue->second->reason};
  if (observed != nullptr && !observed->parked.empty())
    return {DAVIT_ISSUE_PARKED, observed->parked};
  if (const Blindness* blind = blindness(key, observed))
    return {DAVIT_ISSUE_BLIND, "unknown " + blind->reason};
  // The counts of such a status are of the version applied before, and may look healthy.
  if (observed != nullptr && observed->message.starts_with(retrying_prefix))
    return {retrying, observed->message.substr(retrying_prefix.size())};
  const bool has_it = observed != nullptr && observed->observed_version == version;
  if (auto why = delayed_.why(key, version, has_it, only_ctrl_v1(key.region)))
    return {DAVIT_ISSUE_DELAYED, std::move(*why)};
  return watched(key);
}

const Issue* Conditions::orphan(const Key& key) const {
  const auto issue = issues_.find(key_of(key.kind, key.region, key.id));
  if (issue == issues_.end() || issue->second->condition != DAVIT_ISSUE_ORPHANED) return nullptr;
  return issue->second;
}

const Conditions::Blindness* Conditions::blindness(const Key& key, const Status* observed) const {
  const auto [begin, end] = blind_.equal_range({key.kind, key.region});
  for (auto it = begin; it != end; ++it) {
    const Blindness& b = it->second;
    const bool seen =
        observed != nullptr && b.since_unix_ms && observed->reported_at_unix_ms >= *b.since_unix_ms;
    if (!seen) return &b;
  }
  return nullptr;
}

// An agent that names no kind may watch any: it speaks ctrl.v1, or it has just begun.
Condition Conditions::watched(const Key& key) const {
  const auto region = regions_.find(key.region);
  if (region == regions_.end()) return {};
  for (const Agent* a : region->second) {
    if (a->progress.kinds.empty() || names(a->progress, key.kind)) return {};
  }
  const Progress& one = region->second.front()->progress;
  return {unwatched,
          "no agent of the region reports progress of this kind: is its plugin "
          "missing there? (agent " +
              one.agent + " has " + listed(one.kinds) + ")"};
}

bool Conditions::only_ctrl_v1(const std::string& region) const {
  const auto found = regions_.find(region);
  return found != regions_.end() &&
         std::all_of(found->second.begin(), found->second.end(), [](const Agent* a) {
           return a->progress.software == "ctrl.v1";  // set by the recorder for a heartbeat
         });
}

std::set<std::string> Conditions::only_ctrl_v1_regions() const {
  std::set<std::string> out;
  for (const auto& [region, agents] : regions_) {
    if (only_ctrl_v1(region)) out.insert(region);
  }
  return out;
}

Condition Conditions::of_region(const std::string& region, int64_t now_unix_ms) const {
  const auto found = regions_.find(region);
  if (found == regions_.end()) return {unattended, "no agent of the region has reported"};
  std::vector<const Agent*> here;
  int64_t last = 0;
  for (const Agent* a : found->second) {
    last = std::max(last, a->progress.seen_at_unix_ms);
    if (a->progress.seen_at_unix_ms + Succession::silence.count() >= now_unix_ms) here.push_back(a);
  }
  if (here.empty()) {
    return {unattended, "no agent of the region was heard of for " +
                            std::to_string((now_unix_ms - last) / 1000) + " seconds"};
  }
  for (size_t i = 0; i < here.size(); ++i) {
    for (size_t k = i + 1; k < here.size(); ++k) {
      if (!beside(here[i]->progress, here[k]->progress)) continue;
      return {contended, "agents " + here[i]->progress.agent + " and " + here[k]->progress.agent +
                             " both work there: stop one, or give both the plugin leader"};
    }
  }
  if (auto why = delayed_.why(region)) return {DAVIT_ISSUE_DELAYED, std::move(*why)};
  return {};
}

}  // namespace davit::desired
