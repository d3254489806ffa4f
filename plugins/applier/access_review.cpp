#include "access_review.hpp"

#include <algorithm>

#include <davit/issues.hpp>

namespace davit::applier {
namespace {

// Time limit of one question.
constexpr std::chrono::seconds review_timeout{5};

Missing missing_of(const KindState& kind, const Access::Answer& answer) {
  Missing out;
  const auto own = rights_of(kind.client.description(), kind.needs);
  for (const Right& right : answer.missing) {
    Right anywhere = right;
    anywhere.ns.clear();
    if (std::find(own.begin(), own.end(), anywhere) != own.end()) add(out, right);
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

AccessReview::AccessReview(Host host, const ReconcileContext& context, Strand strand,
                           const Kinds& kinds, std::function<void()> ended)
    : host_(host),
      context_(context),
      strand_(std::move(strand)),
      kinds_(kinds),
      ended_(std::move(ended)),
      timer_(strand_),
      missing_rights_(host.gauge("davit_applier_rights_missing",
                                 "Rights that kinds need and the agent's account does not have")) {}

// What all kinds need, each right and part once.
Access::Question AccessReview::question() const {
  Access::Question out;
  for (const auto& kind : kinds_) {
    add_once(out.rights, rights_of(kind->client.description(), kind->needs));
    add_once(out.parts, parts_of(kind->client.description(), kind->needs));
  }
  return out;
}

std::string AccessReview::cluster_role() const {
  const auto namespaces = kubernetes::namespaces_of(context_.cluster);
  return applier::cluster_role(kubernetes::in_namespaces(question().rights, namespaces));
}

Result<> AccessReview::check(std::chrono::nanoseconds deadline) const {
  if (context_.rules.access_review_interval.count() == 0) return {};
  const auto answer = Access::ask_and_wait(host_, context_.cluster, question(), deadline);
  if (answer.refused) {
    return Error{Code::permission_denied,
                 "the rights of the agent's account could not be asked for: " + answer.failure};
  }
  // If nobody answers, the cluster's own check reports that.
  std::string all;
  const auto say = [&all](const std::string& line) { all += (all.empty() ? "" : "; ") + line; };
  for (const auto& kind : kinds_) {
    for (const auto& [spot, verbs] : missing_of(*kind, answer))
      say(kind->name() + ": " + describe(spot, verbs, way_out(kind->needs, spot.name, verbs)));
    for (const Part& part : absent_of(*kind, answer))
      say(kind->name() + ": " + describe_missing(part, kind->needs));
  }
  if (all.empty()) return {};
  return Error{answer.missing.empty() ? Code::failed_precondition : Code::permission_denied, all};
}

void AccessReview::start(const StatusPublisher& publisher) {
  publisher_ = &publisher;
  if (!timer_.waiting()) soon();
}

void AccessReview::soon() {
  if (!under_way_) timer_.after(std::chrono::nanoseconds(0), [this] { ask(); });
}

void AccessReview::stop() {
  stopped_ = true;
  timer_.cancel();
}

void AccessReview::ask() {
  if (stopped_ || under_way_ || context_.rules.access_review_interval.count() == 0) return;
  under_way_ = true;
  Access::ask(host_, context_.cluster, strand_, question(), review_timeout,
              [this](const Access::Answer& answer) {
                under_way_ = false;
                if (stopped_) return ended_();
                answered(answer);
              });
}

// The review is repeated until nothing is missing. After that only a refusal causes another one.
void AccessReview::answered(const Access::Answer& answer) {
  bool again = !answer.failure.empty() && !answer.unknown_here;
  if (again && !std::exchange(failed_, true))
    host_.warn("the account's rights could not be asked for", {{"reason", answer.failure}});
  if (answer.failure.empty()) {
    failed_ = false;
    for (const auto& kind : kinds_) {
      tell_rights(*kind, missing_of(*kind, answer));
      tell_absent(*kind, absent_of(*kind, answer));
    }
    missing_rights_.set(static_cast<double>(answer.missing.size()));
    again = !answer.missing.empty() || !answer.absent.empty();
  }
  if (again && !timer_.waiting())
    timer_.after(context_.rules.access_review_interval, [this] { ask(); });
}

void AccessReview::tell_rights(KindState& kind, const Missing& missing) {
  for (const auto& [spot, verbs] : missing) {
    const auto known = kind.missing.find(spot);
    if (known != kind.missing.end() && known->second == verbs) continue;
    const std::string setting = way_out(kind.needs, spot.name, verbs);
    host_.warn("a right is missing", {{"kind", kind.name()},
                                      {"resource", spot.shown()},
                                      {"verbs", listed(verbs)},
                                      {"or_set", setting.empty() ? "nothing" : setting}});
    publisher_->of_kind(kind.name(), "access to " + spot.shown(), DAVIT_ISSUE_DENIED,
                        describe(spot, verbs, setting));
  }
  for (const auto& [spot, verbs] : kind.missing) {
    if (missing.contains(spot)) continue;
    host_.info("a right is no longer missing", {{"kind", kind.name()}, {"resource", spot.shown()}});
    publisher_->of_kind(kind.name(), "access to " + spot.shown(), DAVIT_ISSUE_DENIED, {});
  }
  kind.missing = missing;
}

void AccessReview::tell_absent(KindState& kind, const std::vector<Part>& absent) {
  std::map<std::string, Part> now;
  for (const Part& part : absent) now.emplace(part.shown(), part);
  for (const auto& [name, part] : now) {
    if (kind.absent.contains(name)) continue;
    const std::string reason = describe_missing(part, kind.needs);
    host_.warn("the cluster lacks what a kind needs", {{"kind", kind.name()}, {"reason", reason}});
    publisher_->of_kind(kind.name(), name, issues::missing, reason);
  }
  for (const auto& [name, part] : kind.absent) {
    if (now.contains(name)) continue;
    host_.info("the cluster has what it lacked", {{"kind", kind.name()}, {"what", name}});
    publisher_->of_kind(kind.name(), name, issues::missing, {});
  }
  kind.absent = std::move(now);
}

}  // namespace davit::applier
