// Hub: whether the agent's account has the rights that the kinds need: asked at the start, again
// while one is missing and when a watch is refused, and by `davit check`.
#include <algorithm>

#include "hub.hpp"

namespace davit::applier {
namespace {

// One question; a stop waits for it.
constexpr std::chrono::seconds review_timeout{5};

Missing missing_of(const KindState& kind, const Access::Answer& answer) {
  Missing out;
  const auto& all = answer.missing;
  for (const Right& right : rights_of(kind.client.description())) {
    if (std::find(all.begin(), all.end(), right) != all.end()) add(out, right);
  }
  return out;
}

}  // namespace

// Of all kinds, each once.
std::vector<Right> Hub::needed_rights() const {
  std::vector<Right> out;
  for (const auto& kind : kinds_) {
    for (const Right& right : rights_of(kind->client.description())) {
      if (std::find(out.begin(), out.end(), right) == out.end()) out.push_back(right);
    }
  }
  return out;
}

Result<> Hub::check_access(std::chrono::nanoseconds deadline) const {
  if (shop_->rules.access_review_interval.count() == 0) return {};
  const auto answer = Access::ask_and_wait(host_, shop_->cluster, needed_rights(), deadline);
  // That nobody answers is what the cluster's own check says.
  if (!answer.failure.empty() && !answer.refused) return {};
  if (answer.refused) {
    return Error{Code::permission_denied,
                 "the rights of the agent's account could not be asked for: " + answer.failure,
                 {},
                 {}};
  }
  std::string all;
  for (const auto& kind : kinds_) {
    for (const auto& [name, verbs] : missing_of(*kind, answer)) {
      host_.error("a right is missing",
                  {{"kind", kind->name()}, {"resource", name}, {"verbs", verbs}});
      all += (all.empty() ? "" : "; ") + kind->name() + ": " + verbs + " " + name;
    }
  }
  if (all.empty()) return {};
  return Error{Code::permission_denied,
               "the agent's account lacks rights in all namespaces: " + all,
               {},
               {}};
}

void Hub::review_access() {
  if (stopping_ || reviewing_ || shop_->rules.access_review_interval.count() == 0) return;
  reviewing_ = true;
  Access::ask(host_, shop_->cluster, strand_, needed_rights(), review_timeout,
              [this](const Access::Answer& answer) {
                reviewing_ = false;
                if (stopping_) return check_stopped();
                reviewed(answer);
              });
}

// Asked again until nothing is missing; then only a refusal is a reason to ask.
void Hub::reviewed(const Access::Answer& answer) {
  if (!answer.failure.empty() && !answer.unknown_here && !std::exchange(review_failed_, true)) {
    host_.warn("the account's rights could not be asked for", {{"reason", answer.failure}});
  }
  bool again = !answer.failure.empty() && !answer.unknown_here;
  if (answer.failure.empty()) {
    review_failed_ = false;
    for (auto& kind : kinds_) tell_rights(*kind, missing_of(*kind, answer));
    missing_rights_.set(static_cast<double>(answer.missing.size()));
    again = !answer.missing.empty();
  }
  if (again && !access_timer_.waiting())
    access_timer_.after(shop_->rules.access_review_interval, [this] { review_access(); });
}

void Hub::tell_rights(KindState& kind, const Missing& missing) {
  for (const auto& [name, verbs] : missing) {
    const auto known = kind.missing.find(name);
    if (known != kind.missing.end() && known->second == verbs) continue;
    host_.warn("a right is missing", {{"kind", kind.name()}, {"resource", name}, {"verbs", verbs}});
    telling_->of_kind(kind.name(), "access to " + name, DAVIT_ISSUE_DENIED, describe(name, verbs));
  }
  for (const auto& [name, verbs] : kind.missing) {
    if (missing.contains(name)) continue;
    host_.info("a right is no longer missing", {{"kind", kind.name()}, {"resource", name}});
    telling_->of_kind(kind.name(), "access to " + name, DAVIT_ISSUE_DENIED, {});
  }
  kind.missing = missing;
}

}  // namespace davit::applier
