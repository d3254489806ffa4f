#include "pairing.hpp"

namespace davit::federation {
namespace {

// A watch of the same cluster is tried again as often.
constexpr Backoff::Limits pauses{std::chrono::milliseconds(500), std::chrono::milliseconds(5000)};

// So many refusals are believed.
constexpr uint32_t refusals_believed = 3;

// It may answer another time.
bool passes(Code code) {
  return code == Code::unavailable || code == Code::deadline_exceeded || code == Code::aborted ||
         code == Code::resource_exhausted || code == Code::unauthenticated ||
         code == Code::cancelled || code == Code::internal;
}

}  // namespace

Pairing::Pairing(Host host, Strand strand, Outstanding& outstanding, Side upstream, Side downstream,
                 std::function<void()> told)
    : host_(host),
      strand_(strand),
      outstanding_(outstanding),
      told_(std::move(told)),
      ends_{{std::move(upstream), "", "", false, Backoff(pauses), Timer(strand)},
            {std::move(downstream), "", "", false, Backoff(pauses), Timer(strand)}} {}

void Pairing::start() {
  ask(0);
  ask(1);
}

void Pairing::close() {
  closed_ = true;
  for (End& end : ends_) end.timer.cancel();
  operation_.cancel();
}

void Pairing::ask(size_t end) {
  ends_[end]
      .side.client.under(operation_)
      .identity([self = shared_from_this(), end,
                 ticket = outstanding_.begin()](const cluster::Response& r) {
        self->strand_.post([self, end, ticket, r] {
          if (!self->closed_) self->answered(end, r);
        });
      });
}

void Pairing::answered(size_t end, const cluster::Response& r) {
  End& e = ends_[end];
  // An API server that starts refuses everybody for some seconds.
  const bool refused_now = r.code != Code::ok && e.backoff.failures() < refusals_believed;
  if (passes(r.code) || refused_now) {
    e.why = r.message.empty() ? "no answer" : r.message;
    e.timer.after(e.backoff.next(host_.random(), r.retry_after), [this, end] { ask(end); });
    return told_();
  }
  e.answered = true;
  if (r.code == Code::ok) {
    e.id = r.body;
  } else {
    host_.info("a cluster does not say which it is: nothing checks that the sides differ",
               {{"side", e.side.name}, {"reason", r.message}});
  }
  if (same()) host_.error(trouble(), {});
  told_();
}

bool Pairing::done() const {
  return ends_[0].answered && ends_[1].answered && !same();
}

bool Pairing::same() const {
  return !ends_[0].id.empty() && ends_[0].id == ends_[1].id;
}

std::string Pairing::trouble() const {
  if (same()) {
    return ends_[0].side.name + " and " + ends_[1].side.name +
           " are the same cluster, so nothing is written: let one of them name another cluster";
  }
  for (const End& end : ends_) {
    if (end.answered) continue;
    return end.side.name + " has not said which cluster it is" +
           (end.why.empty() ? "" : ": " + end.why);
  }
  return {};
}

}  // namespace davit::federation
