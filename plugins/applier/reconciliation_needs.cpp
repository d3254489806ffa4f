// Finds out what a kind needs to know before it can answer (abi/kind.h, "needs"), one need after
// the other, and asks the kind again. Nothing is applied before. The only source is an object of
// the cluster.
#include <boost/json.hpp>

#include "reconciliation.hpp"

namespace davit::applier {
namespace {

constexpr uint32_t rounds_max = 4;
constexpr size_t given_bytes_max = 1 << 20;  // of all answers together

}  // namespace

void Reconciliation::meet(std::vector<Need> needs) {
  if (++rounds_ > rounds_max) {
    return refuse("kind: it needs more after " + std::to_string(rounds_max) + " answers (need \"" +
                  needs.front().id + "\")");
  }
  for (const Need& need : needs) {
    if (given_.contains(need.id))
      return refuse("kind: it asks again for need \"" + need.id + "\", which it was given");
  }
  needs_ = std::move(needs);
  need_ = 0;
  meet_next();
}

void Reconciliation::meet_next() {
  if (need_ == needs_.size()) return consult();
  request(needs_[need_].object.request(DAVIT_VERB_GET),
          [this](const cluster::Response& r) { met(r); });
}

void Reconciliation::met(const cluster::Response& r) {
  const Need& need = needs_[need_];
  const Meaning m = meaning(r, true);
  if (m != Meaning::fine && m != Meaning::absent) {
    return delay("need \"" + need.id + "\": " + need.object.text() + ": " + describe(r),
                 r.retry_after);
  }
  std::string answer = "null";
  if (m == Meaning::fine) {
    const auto object = answered(r);
    if (!object) return;
    answer = json::serialize(*object);
  }
  given_bytes_ += answer.size();
  if (given_bytes_ > given_bytes_max)
    return refuse("kind: what it needs is larger than 1 MiB (with need \"" + need.id + "\")");
  given_[need.id] = std::move(answer);
  ++need_;
  meet_next();
}

}  // namespace davit::applier
