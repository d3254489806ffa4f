#include "watch_table.hpp"

#include "address.hpp"
#include "discovery.hpp"
#include "requests.hpp"

namespace davit::cluster_kubernetes {
namespace {

using std::chrono::milliseconds;

// A watch that has been open this long works: missed events, or an error, have arrived by then.
constexpr milliseconds settled_after{1'000};
// How soon a watch looks again whether there are credentials.
constexpr milliseconds look_again{50};

}  // namespace

WatchTable::Part WatchTable::make_part(const cluster::WatchRequest& q, std::string ns) const {
  auto path = collection_path(q.resource, ns);
  Part part;
  part.flow = std::make_unique<WatchFlow>(q, path.ok() ? *path : std::string(), options_.flow);
  part.ns = std::move(ns);
  part.flow->grant(UINT32_MAX);  // the watch's own credit counts
  return part;
}

void WatchTable::add(uintptr_t id, const cluster::WatchRequest& q, uint32_t credit,
                     cluster::Watcher watcher) {
  auto parts = restriction_.parts(q);
  const auto path = collection_path(q.resource, q.ns);
  const bool works = parts.ok() && path.ok();
  const auto [it, fresh] = watches_.emplace(
      id, Watch{q,
                std::move(watcher),
                Merge(works ? *parts : std::vector<std::string>{""}, !q.resource_version.empty()),
                credit,
                {}});
  Watch& watch = it->second;
  if (works) {
    for (auto& ns : *parts) watch.parts.push_back(make_part(q, std::move(ns)));
    return;
  }
  // It can never work. It reports that once, and ends when it is cancelled like any other.
  const Error& why = path.ok() ? parts.error() : path.error();
  if (credit == 0) return;
  watch.watcher.event(
      why.code == Code::permission_denied ? DAVIT_WATCH_REFUSED : DAVIT_WATCH_TROUBLE, why.message);
}

void WatchTable::grant(uintptr_t id, uint32_t more) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return;
  uint32_t& credit = it->second.credit;
  credit = credit > UINT32_MAX - more ? UINT32_MAX : credit + more;
}

void WatchTable::cancel(uintptr_t id) {
  const auto it = watches_.find(id);
  if (it == watches_.end()) return;
  for (const Part& part : it->second.parts) {
    if (part.transfer != 0) transport_.abort(part.transfer);
  }
  const cluster::Watcher watcher = std::move(it->second.watcher);
  watches_.erase(it);
  hooks_.health();
  if (watcher.ended) watcher.ended();
}

void WatchTable::end_all() {
  for (auto& [id, watch] : std::exchange(watches_, {})) {
    for (const Part& part : watch.parts) {
      if (part.transfer != 0) transport_.abort(part.transfer);
    }
    if (watch.watcher.ended) watch.watcher.ended();
  }
}

WatchTable::Part* WatchTable::find(uintptr_t id, size_t n) {
  const auto it = watches_.find(id);
  return it == watches_.end() ? nullptr : &it->second.parts[n];
}

std::string WatchTable::refused() const {
  for (const auto& [id, watch] : watches_) {
    for (const Part& part : watch.parts) {
      if (!part.refused.empty()) return part.refused;
    }
  }
  return {};
}

bool WatchTable::has_room(const Part& part) const {
  return part.flow->waiting_bytes() < options_.buffer_bytes;
}

WatchTable::Time WatchTable::due() const {
  Time out = Time::max();
  for (const auto& [id, watch] : watches_) {
    for (const Part& part : watch.parts) {
      if (part.transfer == 0 && has_room(part)) out = std::min(out, part.due);
    }
  }
  return out;
}

void WatchTable::turn() {
  for (auto& [id, watch] : watches_) {
    for (size_t n = 0; n < watch.parts.size(); ++n) {
      Part& part = watch.parts[n];
      if (!part.opened || host_.now() - *part.opened < settled_after) continue;
      part.opened.reset();
      part.flow->opened();
    }
    deliver(watch);
    for (size_t n = 0; n < watch.parts.size(); ++n) turn_part(id, n, watch.parts[n]);
  }
}

void WatchTable::deliver(Watch& watch) {
  for (size_t n = 0; n < watch.parts.size(); ++n) {
    while (watch.credit > 0) {
      auto item = watch.parts[n].flow->take();
      if (!item) break;
      Merge::Out out = watch.merge.take(n, std::move(*item));
      if (out.restart_others) restart_others(watch, n);
      if (!out.item) continue;
      --watch.credit;
      watch.watcher.event(out.item->type, out.item->object);
    }
  }
}

void WatchTable::restart_others(Watch& watch, size_t but) {
  cluster::WatchRequest from_the_beginning = watch.request;
  from_the_beginning.resource_version.clear();
  for (size_t n = 0; n < watch.parts.size(); ++n) {
    Part& part = watch.parts[n];
    if (n == but) continue;
    if (part.transfer != 0) transport_.abort(part.transfer);
    std::string refused = std::move(part.refused);
    part = make_part(from_the_beginning, part.ns);
    part.refused = std::move(refused);
  }
}

void WatchTable::turn_part(uintptr_t id, size_t n, Part& part) {
  if (part.transfer == 0 && has_room(part) && part.due <= host_.now() && may_start(part))
    step(id, n, part);
  if (part.stopped_reading && part.flow->waiting_bytes() <= options_.buffer_bytes / 2) {
    part.stopped_reading = false;
    transport_.resume(part.transfer);
  }
}

// Whether there are credentials and room under the limit. A watch counts when it begins.
bool WatchTable::may_start(Part& part) {
  const Time now = host_.now();
  switch (credentials_.state()) {
    case Credentials::State::waiting:
      part.due = now + look_again;
      return false;
    case Credentials::State::failed:
      finish(part, not_sent(Outcome::Transport::no_credentials, credentials_.failure()));
      return false;
    case Credentials::State::ready:
      break;
  }
  if (!std::exchange(part.reserved, true)) part.due = limit_.reserve(now);
  if (part.due > now) return false;
  part.reserved = false;
  return true;
}

void WatchTable::step(uintptr_t id, size_t n, Part& part) {
  if (part.again) {
    Transport::Spec spec = std::move(*part.again);
    part.again.reset();
    return start(id, n, part, std::move(spec));
  }
  WatchFlow::Step next = part.flow->next(host_.random());
  Transport::Spec spec;
  spec.path = std::move(next.path);
  spec.accept = std::move(next.accept);
  if (next.stream) {
    // The part stays where it is while its transfer runs.
    spec.opened = [this, &part] {
      part.opened = host_.now();
      credentials_.accepted(part.generation);
      if (std::exchange(part.refused, {}).empty()) return;
      hooks_.health();
    };
    spec.data = [this, &part](std::string_view piece) {
      if (!has_room(part)) {
        part.stopped_reading = true;
        return false;
      }
      part.flow->data(piece);
      return true;
    };
  }
  spec.timeout = options_.timeout;
  start(id, n, part, std::move(spec));
}

void WatchTable::start(uintptr_t id, size_t n, Part& part, Transport::Spec spec) {
  part.generation = credentials_.generation();
  part.transfer = transport_.start(std::move(spec), host_.now(),
                                   [this, id, n](Outcome o, Transport::Spec sent) {
                                     ended(id, n, std::move(o), std::move(sent));
                                   });
}

void WatchTable::ended(uintptr_t id, size_t n, Outcome o, Transport::Spec spec) {
  Part* const part = find(id, n);
  if (part == nullptr) return;
  part->transfer = 0;
  part->opened.reset();
  part->stopped_reading = false;
  if (o.http == 401 && credentials_.refused(part->generation) &&
      !std::exchange(part->sent_again, true)) {
    part->again = std::move(spec);
    part->due = host_.now();
    return;
  }
  if (o.http != 401) part->sent_again = false;
  const auto& all = watches_.at(id).parts;
  if (part->flow->is_absent(o) && (all.size() > 1 || !restriction_.namespaces().empty()))
    return ask_for_scope(id, n, *part, std::move(o));
  finish(*part, o);
}

void WatchTable::finish(Part& part, const Outcome& o) {
  part.reserved = false;
  part.transfer = 0;
  part.refused = part.flow->is_refused(o) ? to_response(o).message : std::string();
  hooks_.note(o);
  part.due = host_.now() + part.flow->ended(o, host_.random());
}

// In a namespace there are no cluster-scoped objects, and the API server answers as if their
// definition were not installed. So its discovery decides. What exists must not look as if it were
// gone.
void WatchTable::ask_for_scope(uintptr_t id, size_t n, Part& part, Outcome absent) {
  const cluster::Resource resource = watches_.at(id).request.resource;
  Transport::Spec spec;
  spec.path = Discovery::path(escaped(resource.group), escaped(resource.version));
  spec.timeout = options_.timeout;
  const auto first = std::make_shared<const Outcome>(std::move(absent));
  part.transfer = transport_.start(
      std::move(spec), host_.now(), [=, this](const Outcome& o, const Transport::Spec&) {
        Part* const asked = find(id, n);
        if (asked == nullptr) return;
        const auto scope = Discovery::scope(o.body, resource.resource);
        if ((o.http == 200 && scope == Discovery::Scope::unknown) || asked->flow->is_absent(o))
          return finish(*asked, *first);
        if (o.http != 200) return finish(*asked, o);
        Outcome refusal = *first;
        refusal.http = scope == Discovery::Scope::cluster ? 403 : 503;
        refusal.body =
            Restriction::status(refusal.http, scope == Discovery::Scope::cluster
                                                  ? restriction_.cluster_scoped(resource.resource)
                                                  : "the definition was installed just now");
        finish(*asked, refusal);
      });
}

}  // namespace davit::cluster_kubernetes
