// Hub: whether the agent's account has the rights that the kinds need, and the cluster has what
// they need. The hub asks at the start, when a watch or a record is refused, and at intervals while
// something is missing. `davit check` asks, too.
#include <algorithm>

#include <davit/issues.hpp>

#include "hub.hpp"

namespace davit::applier {
namespace {

// Time limit of one question.
constexpr std::chrono::seconds review_timeout{5};

Missing missing_of(const KindState& kind, const Access::Answer& answer) {
  Missing out;
  const auto& all = answer.missing;
  for (const Right& right : rights_of(kind.client.description(), kind.needs)) {
    if (std::find(all.begin(), all.end(), right) != all.end()) add(out, right);
  }
  return out;
}

std::vector<Part> absent_of(const KindState& kind, const Access::Answer& answer) {
  std::vector<Part> out = parts_of(kind.client.description(), kind.needs);
  const auto& all = answer.absent;
  std::erase_if(
      out, [&](const Part& part) { return std::find(all.begin(), all.end(), part) == all.end(); });
  return out;
}

template <class T>
void add_once(std::vector<T>& to, std::vector<T> more) {
  for (T& one : more) {
    if (std::find(to.begin(), to.end(), one) == to.end()) to.push_back(std::move(one));
  }
}

}  // namespace

// What all kinds need, each right and part once.
Access::Question Hub::question() const {
  Access::Question out;
  for (const auto& kind : kinds_) {
    add_once(out.rights, rights_of(kind->client.description(), kind->needs));
    add_once(out.parts, parts_of(kind->client.description(), kind->needs));
  }
  return out;
}

std::string Hub::cluster_role() const {
  return applier::cluster_role(question().rights);
}

Result<> Hub::check_access(std::chrono::nanoseconds deadline) const {
  if (shop_->rules.access_review_interval.count() == 0) return {};
  const auto answer = Access::ask_and_wait(host_, shop_->cluster, question(), deadline);
  if (answer.refused) {
    return Error{Code::permission_denied,
                 "the rights of the agent's account could not be asked for: " + answer.failure,
                 {},
                 {}};
  }
  // If nobody answers, the cluster's own check reports that.
  std::string all;
  const auto say = [&all](const std::string& line) { all += (all.empty() ? "" : "; ") + line; };
  for (const auto& kind : kinds_) {
    for (const auto& [name, verbs] : missing_of(*kind, answer))
      say(kind->name() + ": " + describe(name, verbs, way_out(kind->needs, name, verbs)));
    for (const Part& part : absent_of(*kind, answer))
      say(kind->name() + ": " + describe_missing(part, kind->needs));
  }
  if (all.empty()) return {};
  return Error{
      answer.missing.empty() ? Code::failed_precondition : Code::permission_denied, all, {}, {}};
}

// A review that is under way decides itself, at its end, whether another one is needed.
void Hub::review_soon() {
  if (!reviewing_) access_timer_.after(Sight::Time(0), [this] { review_access(); });
}

void Hub::review_access() {
  if (stopping_ || reviewing_ || shop_->rules.access_review_interval.count() == 0) return;
  reviewing_ = true;
  Access::ask(host_, shop_->cluster, strand_, question(), review_timeout,
              [this](const Access::Answer& answer) {
                reviewing_ = false;
                if (stopping_) return check_stopped();
                reviewed(answer);
              });
}

// The review is repeated until nothing is missing. After that only a refusal causes another one.
void Hub::reviewed(const Access::Answer& answer) {
  if (!answer.failure.empty() && !answer.unknown_here && !std::exchange(review_failed_, true)) {
    host_.warn("the account's rights could not be asked for", {{"reason", answer.failure}});
  }
  bool again = !answer.failure.empty() && !answer.unknown_here;
  if (answer.failure.empty()) {
    review_failed_ = false;
    for (auto& kind : kinds_) {
      tell_rights(*kind, missing_of(*kind, answer));
      tell_absent(*kind, absent_of(*kind, answer));
    }
    missing_rights_.set(static_cast<double>(answer.missing.size()));
    again = !answer.missing.empty() || !answer.absent.empty();
  }
  if (again && !access_timer_.waiting())
    access_timer_.after(shop_->rules.access_review_interval, [this] { review_access(); });
}

void Hub::tell_rights(KindState& kind, const Missing& missing) {
  for (const auto& [name, verbs] : missing) {
    const auto known = kind.missing.find(name);
    if (known != kind.missing.end() && known->second == verbs) continue;
    const std::string setting = way_out(kind.needs, name, verbs);
    host_.warn("a right is missing", {{"kind", kind.name()},
                                      {"resource", name},
                                      {"verbs", listed(verbs)},
                                      {"or_set", setting.empty() ? "nothing" : setting}});
    telling_->of_kind(kind.name(), "access to " + name, DAVIT_ISSUE_DENIED,
                      describe(name, verbs, setting));
  }
  for (const auto& [name, verbs] : kind.missing) {
    if (missing.contains(name)) continue;
    host_.info("a right is no longer missing", {{"kind", kind.name()}, {"resource", name}});
    telling_->of_kind(kind.name(), "access to " + name, DAVIT_ISSUE_DENIED, {});
  }
  kind.missing = missing;
}

void Hub::tell_absent(KindState& kind, const std::vector<Part>& absent) {
  std::map<std::string, Part> now;
  for (const Part& part : absent) now.emplace(part.shown(), part);
  for (const auto& [name, part] : now) {
    if (kind.absent.contains(name)) continue;
    const std::string reason = describe_missing(part, kind.needs);
    host_.warn("the cluster lacks what a kind needs", {{"kind", kind.name()}, {"reason", reason}});
    telling_->of_kind(kind.name(), name, issues::missing, reason);
  }
  for (const auto& [name, part] : kind.absent) {
    if (now.contains(name)) continue;
    host_.info("the cluster has what it lacked", {{"kind", kind.name()}, {"what", name}});
    telling_->of_kind(kind.name(), name, issues::missing, {});
  }
  kind.absent = std::move(now);
}

}  // namespace davit::applier
