#include "engine.hpp"

#include "address.hpp"
#include "token_answer.hpp"

namespace davit::cluster_kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds idle_wait{1'000};  // the loop is woken earlier if there is work
// How late a waiting request may learn that its time is over.
constexpr milliseconds expire_every{100};

}  // namespace

Engine::Engine(const Host& host, Access access, ReadAccess read_access, Options options)
    : host_(host),
      options_(std::move(options)),
      restriction_(options_.namespaces),
      token_(
          access, [host](const std::string& path) { return host.credential(path); },
          [host](const Error* e) {
            if (e == nullptr) return host.info("the bearer token can be read again");
            host.warn("the bearer token cannot be read; the last one goes on",
                      {{"error", e->message}});
          }),
      transport_(std::make_shared<const Access>(access.copy()), token_, options_.transport),
      credentials_(host, std::move(access), std::move(read_access), options_.credentials,
                   [this] { transport_.wake(); }),
      limit_(options_.requests_per_second, options_.requests_burst),
      requests_(transport_, credentials_, limit_, options_.requests,
                [this](std::chrono::nanoseconds time) { waited_.observe(time); }),
      watches_(host, transport_, credentials_, limit_, restriction_, options_.watch,
               {[this](const Outcome& o) { note(o); }, [this] { show_health(); }}) {
  seconds_ =
      host_.histogram("davit_cluster_request_seconds", "time of requests to the Kubernetes API");
  waited_ = host_.histogram("davit_cluster_request_wait_seconds",
                            "time that requests wait before they are sent");
  running_ =
      host_.gauge("davit_cluster_requests_running", "requests to the Kubernetes API under way");
  received_ = host_.counter("davit_cluster_received_bytes_total",
                            "bytes of bodies from the Kubernetes API, as they came");
  waiting_ = host_.gauge("davit_cluster_requests_waiting", "requests that are not sent yet");
}

bool Engine::post(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (closed_) return false;
    tasks_.push_back(std::move(task));
  }
  transport_.wake();
  return true;
}

void Engine::stop() {
  stopping_ = true;
  transport_.wake();
}

void Engine::run() {
  while (!stopping_) turn();
  end_all();
}

void Engine::run_until(const std::function<bool()>& done) {
  while (!done()) turn();
}

void Engine::turn() {
  run_tasks();
  if (credentials_.turn()) {
    token_.use(*credentials_.access());
    transport_.use(credentials_.access());
    show_health();
  }
  watches_.turn();
  const auto now = host_.now();
  requests_.go_on(now);
  if (now - expired_at_ >= expire_every) {
    expired_at_ = now;
    requests_.expire(now);
    transport_.expire(now);
    running_.set(static_cast<double>(requests_.running()));
    waiting_.set(static_cast<double>(requests_.waiting()));
    received_.add(static_cast<double>(transport_.take_received()));
  }
  transport_.poll(wait_time());
}

void Engine::run_tasks() {
  std::vector<Task> tasks;
  {
    std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (const auto& task : tasks) task();
}

void Engine::end_all() {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  run_tasks();
  requests_.end_all("the connection to the API server is being closed");
  watches_.end_all();
  credentials_.end();
}

milliseconds Engine::wait_time() const {
  const auto now = host_.now();
  nanoseconds wait = requests_.waiting() > 0 ? nanoseconds(expire_every) : nanoseconds(idle_wait);
  wait = std::min({wait, requests_.due() - now, watches_.due() - now});
  return std::max(std::chrono::ceil<milliseconds>(wait), milliseconds(0));
}

// --- requests

void Engine::note(const Outcome& o) {
  if (o.transport == Outcome::Transport::no_credentials) return show_health();
  const bool answered = o.http != 0 || o.transport == Outcome::Transport::too_large;
  if (answered && !answering_) {
    host_.info("the API server answers again", {{"failures", std::to_string(unanswered_)}});
  } else if (!answered && answering_) {
    host_.warn("the API server does not answer",
               {{"server", credentials_.access()->url}, {"error", o.error}});
  }
  if (!answered) unanswered_why_ = o.error;
  answering_ = answered;
  unanswered_ = answered ? 0 : unanswered_ + 1;
  const bool unauthorized = answered && o.http == 401;
  if (!answered) credentials_.unanswered();
  if (unauthorized) {
    const bool first = unauthorized_.empty();
    unauthorized_ = why_unauthorized(o);
    if (first)
      host_.warn("the API server does not accept the credentials",
                 {{"server", credentials_.access()->url}, {"error", unauthorized_}});
  } else if (answered && !unauthorized && !unauthorized_.empty()) {
    unauthorized_.clear();
    host_.info("the API server accepts the credentials again");
  }
  show_health();
}

std::string Engine::why_unauthorized(const Outcome& o) const {
  std::string out = to_response(o).message;
  if (!credentials_.doubt().empty()) out += "; " + credentials_.doubt();
  for (const auto& [name, value] : o.headers) {
    if (name != "date") continue;
    const std::string clock = clock_difference(value, host_.unix_ms());
    if (!clock.empty()) out += "; " + clock;
  }
  return out;
}

// A 403 to a request concerns one record. A 403 to a watch makes the agent blind for a resource.
void Engine::show_health() {
  std::string why = credentials_.trouble(), more;
  if (!answering_) {
    more = "the API server does not answer: " + unanswered_why_;
  } else if (!unauthorized_.empty()) {
    more = "the API server does not accept the credentials (401): " + unauthorized_;
  } else if (const std::string refused = watches_.refused(); !refused.empty() && why.empty()) {
    more = "the API server refuses a watch: " + refused;
  }
  if (!why.empty() && !more.empty()) why += "; ";
  why += more;
  if (why == health_) return;
  health_ = why;
  host_.health(why.empty() ? DAVIT_HEALTH_SERVING : DAVIT_HEALTH_DEGRADED, why);
}

// --- watches

uintptr_t Engine::watch(cluster::WatchRequest request, uint32_t credit, cluster::Watcher watcher) {
  const uintptr_t id = next_watch_.fetch_add(1);
  auto shared = std::make_shared<cluster::Watcher>(std::move(watcher));
  const bool taken = post([this, id, credit, shared, q = std::move(request)] {
    watches_.add(id, q, credit, std::move(*shared));
  });
  if (!taken && shared->ended) shared->ended();
  return id;
}

void Engine::credit(uintptr_t id, uint32_t more) {
  post([=, this] { watches_.grant(id, more); });
}

void Engine::cancel(uintptr_t id) {
  post([=, this] { watches_.cancel(id); });
}

}  // namespace davit::cluster_kubernetes
