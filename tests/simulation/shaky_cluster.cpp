#include "shaky_cluster.hpp"

#include <algorithm>

#include "objects.hpp"

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
  std::string last;      // event since its list was complete, or what ended the list
  bool goes_on = false;  // the next connection begins there
};

void ShakyCluster::request(const Op&, cluster::Request q, Done done) {
  if (asker_gone_) return strand_.post([done = std::move(done)] { done(no_answer()); });
  const auto asked = std::make_shared<Done>(std::move(done));
  std::erase_if(asked_, [](const Asked& a) { return !*a; });
  asked_.push_back(asked);
  judge_.asked(q, agent_);
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
  const Asking by{agent_, host_.now()};
  wait_until(host_.now() + fate_.delay(), q, asked, [=, this] {
    if (refused) return answer(asked, *refused);
    const auto go = [=, this] {
      carry_out(q, asked, by, [=, this](const cluster::Response& r) {
        wait_until(host_.now() + fate_.delay(), q, asked,
                   [=, this] { answer(asked, answer_is_lost || away_ ? no_answer() : r); });
      });
    };
    // What nobody waits for any more may hang somewhere for seconds.
    if (*asked || !fate_.strikes(0.8)) return go();
    later(strand_, std::chrono::milliseconds(fate_.below(10'000)), go);
  });
}

// Who asked waits no longer than until the request's deadline.
void ShakyCluster::wait_until(std::chrono::nanoseconds due, const cluster::Request& q,
                              const Asked& asked, std::function<void()> then) {
  const auto now = host_.now();
  const std::chrono::nanoseconds deadline(q.deadline_ns);
  if (deadline < due) {
    later(strand_, std::max(deadline - now, std::chrono::nanoseconds(0)), [asked] {
      answer(asked, refusal(Code::deadline_exceeded, 0, "the deadline has passed"));
    });
  }
  later(strand_, due - now, std::move(then));
}

void ShakyCluster::answer(const Asked& asked, const cluster::Response& r) {
  if (const Done done = std::exchange(*asked, nullptr)) done(r);
}

void ShakyCluster::asker_gone() {
  asker_gone_ = true;
  const auto asked = std::exchange(asked_, {});
  for (const auto& a : asked) answer(a, no_answer());
}

void ShakyCluster::carry_out(cluster::Request q, const Asked& asked, Asking by, Done done) {
  q.deadline_ns = INT64_MAX;  // the API server knows of none
  if (q.verb == DAVIT_VERB_GET) return inner_.request(q, std::move(done));
  cluster::Request look;
  look.verb = DAVIT_VERB_GET;
  look.resource = q.resource;
  look.ns = q.ns;
  look.name = q.name;
  inner_.request(look, [this, q, asked, by = std::move(by),
                        done = std::move(done)](const cluster::Response& now) mutable {
    by.late = !*asked;
    judge_.before(q, now.code == Code::ok ? now.body : "null", by);
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

void ShakyCluster::set_away(bool away) {
  away_ = away;
  const auto watches = watches_;
  for (const auto& w : watches) {
    if (!away && !w->open && !w->cancelled) open(w);
  }
}

void ShakyCluster::open(const std::shared_ptr<Watch>& w) {
  if (away_) return;
  if (hidden_.contains(w->request.resource.resource)) return tell_hidden(w);
  w->open = true;
  const uint64_t generation = ++w->generation;
  cluster::WatchRequest request = w->request;
  if (std::exchange(w->goes_on, false) && !w->last.empty()) {
    request.resource_version = text_at(json::parse(w->last), "/metadata/resourceVersion");
    deliver(w, DAVIT_WATCH_SYNCED,
            R"({"metadata":{"resourceVersion":")" + request.resource_version + "\"}}");
  }
  cluster::Watcher watcher;
  watcher.event = [this, w, generation](int32_t type, std::string_view object) {
    if (generation == w->generation && !w->cancelled) deliver(w, type, std::string(object));
  };
  watcher.ended = [this, w] {
    w->open = w->closing = false;
    if (!w->cancelled) return open(w);  // broken: it begins anew
    end(w);
  };
  w->inner = *inner_.watch(request, w->credit, std::move(watcher));
}

void ShakyCluster::tell_hidden(const std::shared_ptr<Watch>& w) {
  const auto& [trouble, why] = hidden_.at(w->request.resource.resource);
  w->goes_on = false;
  if (trouble == DAVIT_WATCH_SYNCED) deliver(w, DAVIT_WATCH_RESTART, "{}");
  deliver(w, trouble, trouble == DAVIT_WATCH_SYNCED ? "{}" : why);
}

// In order, each after a delay of its own.
void ShakyCluster::deliver(const std::shared_ptr<Watch>& w, int32_t type, std::string object) {
  w->last_due = std::max(w->last_due, host_.now() + fate_.delay());
  const uint64_t generation = w->generation;
  later(strand_, w->last_due - host_.now(), [w, generation, type, object = std::move(object)] {
    if (generation != w->generation || w->cancelled) return;
    --w->credit;
    if (type == DAVIT_WATCH_RESTART) w->last.clear();
    const bool shows =
        type == DAVIT_WATCH_ADDED || type == DAVIT_WATCH_MODIFIED || type == DAVIT_WATCH_DELETED;
    if (type == DAVIT_WATCH_SYNCED || (shows && !w->last.empty())) w->last = object;
    w->watcher.event(type, object);
  });
}

void ShakyCluster::lose(Watch& w) {
  if (!w.open || w.closing || w.cancelled) return;
  ++w.generation;  // what is on its way is lost
  w.closing = true;
  w.inner.cancel();
}

void ShakyCluster::break_watches() {
  for (const auto& w : watches_) lose(*w);
}

void ShakyCluster::interrupt_watches(const std::string& why) {
  for (const auto& w : watches_) {
    if (!w->open || w->closing || w->cancelled) continue;
    w->goes_on = true;
    lose(*w);
    deliver(w, DAVIT_WATCH_TROUBLE, why);
  }
}

void ShakyCluster::hide(const std::string& resource, int32_t trouble, const std::string& why) {
  hidden_[resource] = {trouble, why};
  for (const auto& w : watches_) {
    if (w->request.resource.resource == resource) lose(*w);
  }
}

void ShakyCluster::show(const std::string& resource) {
  hidden_.erase(resource);
  const auto watches = watches_;
  for (const auto& w : watches) {
    if (w->request.resource.resource == resource && !w->open && !w->cancelled) open(w);
  }
}

void ShakyCluster::show_all() {
  for (const auto& [resource, how] : std::map(hidden_)) show(resource);
}

std::multiset<std::string> ShakyCluster::watched() const {
  std::multiset<std::string> out;
  for (const auto& w : watches_) {
    if (!w->cancelled) out.insert(w->request.resource.resource);
  }
  return out;
}

void ShakyCluster::credit(cluster::WatchHandle* h, uint32_t more) {
  auto* w = static_cast<Watch*>(h);
  w->credit += more;
  if (w->open && !w->closing) w->inner.credit(more);
}

void ShakyCluster::cancel(cluster::WatchHandle* h) {
  auto* w = static_cast<Watch*>(h);
  w->cancelled = true;
  if (!w->open) {
    const auto held = *std::find_if(watches_.begin(), watches_.end(),
                                    [w](const auto& other) { return other.get() == w; });
    return end(held);
  }
  if (!std::exchange(w->closing, true)) w->inner.cancel();
}

void ShakyCluster::end(const std::shared_ptr<Watch>& w) {
  strand_.post([this, w] {
    std::erase(watches_, w);
    w->watcher.ended();
  });
}

}  // namespace davit::simulation
