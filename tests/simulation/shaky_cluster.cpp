#include "shaky_cluster.hpp"

#include <algorithm>

namespace davit::simulation {

namespace {

cluster::Response refusal(Code code, int32_t http_status, const char* reason,
                          std::chrono::milliseconds retry_after = {}) {
  cluster::Response r;
  r.code = code;
  r.http_status = http_status;
  r.reason = reason;
  r.message = reason;
  r.retry_after = retry_after;
  return r;
}

cluster::Response no_answer() {
  return refusal(Code::unavailable, 0, "no answer");
}

}  // namespace

struct ShakyCluster::Watch : cluster::WatchHandle {
  cluster::WatchRequest request;
  cluster::Watcher watcher;
  cluster::Watch inner;
  uint32_t credit = 0;      // granted to us and not used
  uint64_t generation = 0;  // what an older connection still says is not heard
  std::chrono::nanoseconds last_due{};
  bool open = false, closing = false, cancelled = false;
};

void ShakyCluster::request(cluster::Request q, Done done) {
  if (asker_gone_) return strand_.post([done = std::move(done)] { done(no_answer()); });
  const auto asked = std::make_shared<Done>(std::move(done));
  std::erase_if(asked_, [](const Asked& a) { return !*a; });
  asked_.push_back(asked);
  std::optional<cluster::Response> refused;
  if (away_ || fate_.strikes(0.02)) {
    refused = no_answer();
  } else if (fate_.strikes(0.02)) {
    refused =
        refusal(Code::resource_exhausted, 429, "TooManyRequests", std::chrono::milliseconds(1000));
  } else if (fate_.strikes(0.02)) {
    refused = refusal(Code::internal, 500, "InternalError");
  }
  const bool answer_is_lost = fate_.strikes(0.02);
  later(strand_, fate_.delay(), [this, q = std::move(q), refused, answer_is_lost, asked] {
    if (refused) return answer(asked, *refused);
    carry_out(q, asked, [this, answer_is_lost, asked](const cluster::Response& r) {
      later(strand_, fate_.delay(), [this, answer_is_lost, asked, r] {
        answer(asked, answer_is_lost || away_ ? no_answer() : r);
      });
    });
  });
}

void ShakyCluster::answer(const Asked& asked, const cluster::Response& r) {
  if (const Done done = std::exchange(*asked, nullptr)) done(r);
}

void ShakyCluster::asker_gone() {
  asker_gone_ = true;
  const auto asked = std::exchange(asked_, {});
  for (const auto& a : asked) answer(a, no_answer());
}

void ShakyCluster::carry_out(const cluster::Request& q, const Asked& asked, Done done) {
  if (q.verb == DAVIT_VERB_GET) return inner_.request(q, std::move(done));
  cluster::Request look;
  look.verb = DAVIT_VERB_GET;
  look.resource = q.resource;
  look.ns = q.ns;
  look.name = q.name;
  inner_.request(look,
                 [this, q, asked, done = std::move(done)](const cluster::Response& now) mutable {
                   judge_.before(q, now.code == Code::ok ? now.body : "null", !*asked);
                   inner_.request(q, [this, q, done = std::move(done)](const cluster::Response& r) {
                     judge_.after(q, r);
                     done(r);
                   });
                 });
}

cluster::WatchHandle* ShakyCluster::watch(cluster::WatchRequest q, uint32_t credit,
                                          cluster::Watcher watcher) {
  auto w = std::make_shared<Watch>();
  w->request = std::move(q);
  w->watcher = std::move(watcher);
  w->credit = credit;
  watches_.push_back(w);
  open(w);
  return w.get();
}

void ShakyCluster::open(const std::shared_ptr<Watch>& w) {
  w->open = true;
  const uint64_t generation = ++w->generation;
  cluster::Watcher watcher;
  watcher.event = [this, w, generation](int32_t type, std::string_view object) {
    if (generation == w->generation && !w->cancelled) deliver(w, type, std::string(object));
  };
  watcher.ended = [this, w] {
    w->open = w->closing = false;
    if (!w->cancelled) return open(w);  // broken: it begins anew
    strand_.post([this, w] {
      std::erase(watches_, w);
      w->watcher.ended();
    });
  };
  w->inner = inner_.watch(w->request, w->credit, std::move(watcher));
}

// In order, each after a delay of its own.
void ShakyCluster::deliver(const std::shared_ptr<Watch>& w, int32_t type, std::string object) {
  w->last_due = std::max(w->last_due, host_.now() + fate_.delay());
  const uint64_t generation = w->generation;
  later(strand_, w->last_due - host_.now(), [w, generation, type, object = std::move(object)] {
    if (generation != w->generation || w->cancelled) return;
    --w->credit;
    w->watcher.event(type, object);
  });
}

void ShakyCluster::break_watches() {
  for (const auto& w : watches_) {
    if (!w->open || w->closing || w->cancelled) continue;
    ++w->generation;  // what is on its way is lost
    w->closing = true;
    w->inner.cancel();
  }
}

void ShakyCluster::credit(cluster::WatchHandle* h, uint32_t more) {
  auto* w = static_cast<Watch*>(h);
  w->credit += more;
  if (w->open && !w->closing) w->inner.credit(more);
}

void ShakyCluster::cancel(cluster::WatchHandle* h) {
  auto* w = static_cast<Watch*>(h);
  w->cancelled = true;
  if (!std::exchange(w->closing, true)) w->inner.cancel();
}

}  // namespace davit::simulation
