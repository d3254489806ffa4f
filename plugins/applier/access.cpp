#include "access.hpp"

#include <future>

#include "verdict.hpp"

namespace davit::applier {

Access::Access(const Host& host, cluster::Client cluster, Strand strand, std::vector<Right> rights,
               std::chrono::nanoseconds timeout, std::function<void(Answer)> done)
    : host_(host),
      cluster_(std::move(cluster)),
      strand_(std::move(strand)),
      rights_(std::move(rights)),
      timeout_(timeout),
      done_(std::move(done)) {}

void Access::ask(const Host& host, const cluster::Client& cluster, const Strand& strand,
                 std::vector<Right> rights, std::chrono::nanoseconds timeout,
                 std::function<void(Answer)> done) {
  std::shared_ptr<Access> access(
      new Access(host, cluster, strand, std::move(rights), timeout, std::move(done)));
  access->next();
}

void Access::next() {
  if (next_ == rights_.size()) return done_(std::move(answer_));
  cluster::Request q = review_of(rights_[next_]);
  q.deadline_ns = (host_.now() + timeout_).count();
  cluster_.request(q, [self = shared_from_this()](cluster::Response r) {
    self->strand_.post([self, r = std::move(r)] {
      const bool go_on = take(self->rights_[self->next_++], r, self->answer_);
      if (!go_on) self->next_ = self->rights_.size();
      self->next();
    });
  });
}

// False: there is no use in going on.
bool Access::take(const Right& right, const cluster::Response& r, Answer& into) {
  const auto may = allowed(r);
  if (may) {
    if (!*may) into.missing.push_back(right);
    return true;
  }
  into.refused = r.code == Code::permission_denied || r.code == Code::unauthenticated;
  into.unknown_here = r.code == Code::ok || (!into.refused && meaning(r, true) != Meaning::retry);
  into.failure = describe(r);
  return false;
}

Access::Answer Access::ask_and_wait(const Host& host, const cluster::Client& cluster,
                                    const std::vector<Right>& rights,
                                    std::chrono::nanoseconds deadline) {
  Answer out;
  for (const Right& right : rights) {
    cluster::Request q = review_of(right);
    q.deadline_ns = deadline.count();
    // Shared with an answer that comes when nobody waits for it any more.
    auto answered = std::make_shared<std::promise<cluster::Response>>();
    auto answer = answered->get_future();
    cluster.request(q, [answered](cluster::Response r) { answered->set_value(std::move(r)); });
    if (answer.wait_for(deadline - host.now()) != std::future_status::ready) {
      out.failure = "the API server did not answer in time";
      return out;
    }
    if (!take(right, answer.get(), out)) return out;
  }
  return out;
}

}  // namespace davit::applier
