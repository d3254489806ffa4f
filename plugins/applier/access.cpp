#include "access.hpp"

#include <future>

#include "meaning.hpp"

namespace davit::applier {

Access::Access(const Host& host, cluster::Client cluster, Strand strand, Question question,
               std::chrono::nanoseconds timeout, std::function<void(Answer)> done)
    : host_(host),
      cluster_(std::move(cluster)),
      strand_(std::move(strand)),
      question_(std::move(question)),
      timeout_(timeout),
      done_(std::move(done)) {}

void Access::ask(const Host& host, const cluster::Client& cluster, const Strand& strand,
                 Question question, std::chrono::nanoseconds timeout,
                 std::function<void(Answer)> done) {
  std::shared_ptr<Access> access(
      new Access(host, cluster, strand, std::move(question), timeout, std::move(done)));
  access->question_.restrict_to(kubernetes::namespaces_of(cluster));
  access->next();
}

void Access::Question::restrict_to(const std::vector<std::string>& namespaces) {
  rights = kubernetes::in_namespaces(rights, namespaces);
  if (!namespaces.empty()) ns = namespaces.front();
}

void Access::next() {
  if (next_ == question_.size()) return done_(std::move(answer_));
  cluster::Request q = ask_of(question_, next_);
  q.deadline_ns = (host_.now() + timeout_).count();
  cluster_.request(q, [self = shared_from_this()](cluster::Response r) {
    self->strand_.post([self, r = std::move(r)] {
      const bool go_on = take(self->question_, self->next_++, r, self->answer_);
      if (!go_on) self->next_ = self->question_.size();
      self->next();
    });
  });
}

cluster::Request Access::ask_of(const Question& question, size_t n) {
  const size_t rights = question.rights.size();
  return n < rights ? review_of(question.rights[n])
                    : look_for(question.parts[n - rights], question.ns);
}

// False: the review ends here, because further questions would fail, too.
bool Access::take(const Question& question, size_t n, const cluster::Response& r, Answer& into) {
  if (n >= question.rights.size()) {
    const Part& part = question.parts[n - question.rights.size()];
    if (is_missing(part, r)) into.absent.push_back(part);
    if (meaning(r, true) != Meaning::retry) return true;
    into.failure = describe(r);
    return false;
  }
  const Right& right = question.rights[n];
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
                                    Question question, std::chrono::nanoseconds deadline) {
  Answer out;
  question.restrict_to(kubernetes::namespaces_of(cluster));
  for (size_t n = 0; n < question.size(); ++n) {
    cluster::Request q = ask_of(question, n);
    q.deadline_ns = deadline.count();
    // Shared with the callback, which may come after this function has stopped waiting.
    auto answered = std::make_shared<std::promise<cluster::Response>>();
    auto answer = answered->get_future();
    cluster.request(q, [answered](cluster::Response r) { answered->set_value(std::move(r)); });
    if (answer.wait_for(deadline - host.now()) != std::future_status::ready) {
      out.failure = "the API server did not answer in time";
      return out;
    }
    if (!take(question, n, answer.get(), out)) return out;
  }
  return out;
}

}  // namespace davit::applier
