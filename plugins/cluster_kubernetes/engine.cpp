#include "engine.hpp"

#include "address.hpp"
#include "json_scan.hpp"

namespace davit::cluster_kubernetes {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds idle_wait{1'000};  // the loop is woken earlier if there is work
// How late a waiting request may learn that its time is over.
constexpr milliseconds expire_every{100};
// How often the access is read again: normally, and after the server did not answer or answered
// 401.
constexpr std::chrono::seconds read_access_every{60}, read_access_soon{5};
// A watch that has been open this long works: missed events, or an error, have arrived by then.
constexpr milliseconds settled_after{1'000};

}  // namespace

Engine::Engine(const Host& host, Access access, ReadAccess read_access, Options options)
    : host_(host),
      access_(std::make_shared<const Access>(std::move(access))),
      read_access_(std::move(read_access)),
      options_(options),
      token_(
          *access_, [host](const std::string& path) { return host.credential(path); },
          [host](const Error* e) {
            if (e == nullptr) return host.info("the bearer token can be read again");
            host.warn("the bearer token cannot be read; the last one goes on",
                      {{"error", e->message}});
          }),
      transport_(access_, token_, options.transport),
      requests_(transport_, options.requests),
      access_read_at_(host.now()) {
  seconds_ =
      host_.histogram("davit_cluster_request_seconds", "time of requests to the Kubernetes API");
  running_ =
      host_.gauge("davit_cluster_requests_running", "requests to the Kubernetes API under way");
  waiting_ = host_.gauge("davit_cluster_requests_waiting", "requests that wait for a connection");
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
  run_watches();
  const auto now = host_.now();
  if (now - access_read_at_ >= (access_in_doubt_ ? read_access_soon : read_access_every))
    read_access_again();
  if (now - expired_at_ >= expire_every) {
    expired_at_ = now;
    requests_.expire(now);
    transport_.expire(now);
    running_.set(static_cast<double>(requests_.running()));
    waiting_.set(static_cast<double>(requests_.waiting()));
  }
  transport_.poll(wait_time());
}

// Certificates live for a short time and are replaced in place, and so is a whole kubeconfig.
void Engine::read_access_again() {
  access_read_at_ = host_.now();
  access_in_doubt_ = false;
  auto fresh = read_access_();
  if (!fresh.ok()) {
    if (!std::exchange(access_unreadable_, true))
      host_.warn("the access to the API server cannot be read again; what was read goes on",
                 {{"error", fresh.error().message}});
    return;
  }
  if (std::exchange(access_unreadable_, false))
    host_.info("the access to the API server can be read again");
  if (fresh->same_as(*access_)) return;
  access_ = std::make_shared<const Access>(std::move(*fresh));
  token_.use(*access_);
  transport_.use(access_);
  host_.info("the access to the API server has changed", {{"server", access_->url}});
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
  for (auto& [id, w] : std::exchange(watches_, {})) {
    if (w.transfer != 0) transport_.abort(w.transfer);
    if (w.watcher.ended) w.watcher.ended();
  }
}

milliseconds Engine::wait_time() const {
  const auto now = host_.now();
  nanoseconds wait = requests_.waiting() > 0 ? nanoseconds(expire_every) : nanoseconds(idle_wait);
  for (const auto& [id, w] : watches_) {
    if (w.transfer == 0 && w.flow.waiting_bytes() < options_.watch_buffer_bytes)
      wait = std::min(wait, w.due - now);
  }
  return std::max(std::chrono::ceil<milliseconds>(wait), milliseconds(0));
}

// --- requests

void Engine::note(const Outcome& o) {
  const bool answered = o.http != 0 || o.transport == Outcome::Transport::too_large;
  if (answered && !answering_) {
    host_.info("the API server answers again", {{"failures", std::to_string(unanswered_)}});
  } else if (!answered && answering_) {
    host_.warn("the API server does not answer", {{"server", access_->url}, {"error", o.error}});
    unanswered_why_ = o.error;
  }
  answering_ = answered;
  unanswered_ = answered ? 0 : unanswered_ + 1;
  const bool unauthorized = answered && o.http == 401;
  access_in_doubt_ = access_in_doubt_ || unauthorized || !answered;
  if (unauthorized && unauthorized_.empty()) {
    unauthorized_ = to_response(o).message;
    host_.warn("the API server does not accept the credentials",
               {{"server", access_->url}, {"error", unauthorized_}});
  } else if (answered && !unauthorized && !unauthorized_.empty()) {
    unauthorized_.clear();
    host_.info("the API server accepts the credentials again");
  }
  show_health();
}

// A 403 to a request concerns one record. A 403 to a watch makes the agent blind for a resource.
void Engine::show_health() {
  std::string why;
  if (!answering_) {
    why = "the API server does not answer: " + unanswered_why_;
  } else if (!unauthorized_.empty()) {
    why = "the API server does not accept the credentials (401): " + unauthorized_;
  } else {
    for (const auto& [id, w] : watches_) {
      if (why.empty() && !w.refused.empty()) why = "the API server refuses a watch: " + w.refused;
    }
  }
  if (why == health_) return;
  health_ = why;
  host_.health(why.empty() ? DAVIT_HEALTH_SERVING : DAVIT_HEALTH_DEGRADED, why);
}

// --- watches

uintptr_t Engine::watch(cluster::WatchRequest request, uint32_t credit, cluster::Watcher watcher) {
  const uintptr_t id = next_watch_.fetch_add(1);
  auto shared = std::make_shared<cluster::Watcher>(std::move(watcher));
  const bool taken = post([this, id, credit, shared, q = std::move(request)] {
    auto path = collection_path(q.resource, q.ns);
    auto [it, fresh] = watches_.emplace(
        id, Watching{WatchFlow(q, path.ok() ? *path : std::string(), options_.watch),
                     std::move(*shared),
                     0,
                     {},
                     false,
                     {},
                     {}});
    it->second.flow.grant(credit);
    if (path.ok()) return;
    // It can never work. It reports that once, and ends when it is cancelled like any other.
    it->second.due = nanoseconds::max();
    if (credit > 0) it->second.watcher.event(DAVIT_WATCH_TROUBLE, path.error().message);
  });
  if (!taken && shared->ended) shared->ended();
  return id;
}

void Engine::credit(uintptr_t id, uint32_t more) {
  post([=, this] {
    auto it = watches_.find(id);
    if (it != watches_.end()) it->second.flow.grant(more);
  });
}

void Engine::cancel(uintptr_t id) {
  post([=, this] {
    auto it = watches_.find(id);
    if (it == watches_.end()) return;
    if (it->second.transfer != 0) transport_.abort(it->second.transfer);
    const cluster::Watcher watcher = std::move(it->second.watcher);
    watches_.erase(it);
    show_health();
    if (watcher.ended) watcher.ended();
  });
}

// Callbacks that call the engine post a task, so the table does not change during the loop.
void Engine::run_watches() {
  for (auto& [id, w] : watches_) {
    if (w.opened && host_.now() - *w.opened >= settled_after) {
      w.opened.reset();
      w.flow.opened();
    }
    while (auto item = w.flow.take()) w.watcher.event(item->type, item->object);
    const bool room = w.flow.waiting_bytes() < options_.watch_buffer_bytes;
    if (w.transfer == 0 && room && w.due <= host_.now()) step(id, w);
    if (w.stopped_reading && w.flow.waiting_bytes() <= options_.watch_buffer_bytes / 2) {
      w.stopped_reading = false;
      transport_.resume(w.transfer);
    }
  }
}

void Engine::step(uintptr_t id, Watching& w) {
  WatchFlow::Step next = w.flow.next(host_.random());
  Transport::Spec spec;
  spec.path = std::move(next.path);
  spec.accept = std::move(next.accept);
  if (next.stream) {
    // The watch stays in the table while its transfer runs.
    spec.opened = [this, &w] {
      w.opened = host_.now();
      if (std::exchange(w.refused, {}).empty()) return;
      show_health();
    };
    spec.data = [this, &w](std::string_view piece) {
      if (w.flow.waiting_bytes() >= options_.watch_buffer_bytes) {
        w.stopped_reading = true;
        return false;
      }
      w.flow.data(piece);
      return true;
    };
  }
  spec.timeout = options_.requests.timeout;
  w.transfer = transport_.start(std::move(spec), host_.now(), [this, id](Outcome o) {
    auto it = watches_.find(id);
    if (it == watches_.end()) return;
    Watching& ended = it->second;
    ended.refused = ended.flow.is_refused(o) ? to_response(o).message : std::string();
    note(o);
    ended.opened.reset();
    it->second.transfer = 0;
    it->second.stopped_reading = false;
    it->second.due = host_.now() + it->second.flow.ended(o, host_.random());
  });
}

}  // namespace davit::cluster_kubernetes
