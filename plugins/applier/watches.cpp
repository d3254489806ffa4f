#include "watches.hpp"

#include <boost/json.hpp>

#include "object.hpp"
#include "ownership.hpp"

namespace davit::applier {

namespace {
constexpr uint32_t told_after = 3;  // failures of a kind in a row
}

Result<Arrival> read_arrival(const kind::Client& kind, uint32_t watch, int32_t type,
                             std::string_view object, const std::string& region_label,
                             const std::string& field_manager) {
  Arrival out;
  out.watch = watch;
  out.type = type;
  if (type == DAVIT_WATCH_TROUBLE || type == DAVIT_WATCH_REFUSED) out.trouble = object;
  if (type != DAVIT_WATCH_ADDED && type != DAVIT_WATCH_MODIFIED && type != DAVIT_WATCH_DELETED &&
      type != DAVIT_WATCH_SYNCED) {
    return out;
  }
  boost::system::error_code bad;
  json::value value = json::parse(json::string_view(object.data(), object.size()), bad);
  if (bad || !value.is_object()) return out;
  if (type == DAVIT_WATCH_SYNCED) {
    out.resource_version = meta_of(value.get_object()).resource_version;
    return out;
  }
  const kind::Resource& as = kind.description().resources[watch];
  compact(value.get_object(), as, field_manager);
  const Meta meta = meta_of(value.get_object());
  if (meta.name.empty()) return out;
  out.path = ObjectName{{as.group, as.version, as.resource}, meta.ns, meta.name}.path();
  out.resource_version = meta.resource_version;
  if (type == DAVIT_WATCH_DELETED) return out;
  std::string text = json::serialize(value);
  const Claim ours{region_label, label_value(kind.description().kind), meta.record};
  out.foreign = as.role == DAVIT_RESOURCE_OWNED && !other_owner(meta, ours).empty();
  // The object's own name decides: an annotation may have been copied along or edited.
  auto records = kind.attribute(text);
  if (records.ok()) {
    out.records = std::move(*records);
  } else if (retryable(records.error().code)) {
    return records.error();
  }
  if (as.role == DAVIT_RESOURCE_SEEN) {
    forget_metadata(value.get_object(), as);
    text = json::serialize(value);
  }
  text.shrink_to_fit();
  out.text = std::make_shared<const std::string>(std::move(text));
  return out;
}

void Watches::start(const cluster::Client& cluster, const Rules& rules,
                    const std::string& region_label, Sink sink) {
  sink_ = std::move(sink);
  region_label_ = region_label;
  field_manager_ = rules.field_manager;
  const auto& resources = kind_.description().resources;
  watches_.resize(resources.size());
  open_.resize(resources.size(), false);
  for (uint32_t i = 0; i < resources.size(); ++i) {
    const auto& r = resources[i];
    if (!watched(r)) continue;
    cluster::WatchRequest request;
    request.resource = {r.group, r.version, r.resource};
    request.metadata_only = metadata_only(r.group, r.resource);
    request.label_selector = r.selector;
    cluster::Watcher watcher;
    watcher.event = [this, i](int32_t type, std::string_view object) {
      arrived({i, type, std::string(object)});
    };
    watcher.ended = [this] {
      strand_.post([this] {
        --living_;
        check_ended();
      });
    };
    ++living_;
    open_[i] = true;
    auto watch = cluster.watch(request, rules.watch_credit, std::move(watcher));
    if (watch.ok()) {
      watches_[i] = *watch;
      continue;
    }
    --living_;
    open_[i] = false;
    arrived({i, DAVIT_WATCH_TROUBLE, watch.error().message});
  }
}

void Watches::arrived(Event event) {
  {
    std::lock_guard lock(mutex_);
    events_.push_back(std::move(event));
    if (std::exchange(reading_, true)) return;
  }
  host_.blocking(kind_.instance(), [this] { read(); });
}

// On the pool; one at a time.
void Watches::read() {
  std::deque<Event> events;
  {
    std::lock_guard lock(mutex_);
    events.swap(events_);
  }
  std::vector<Arrival> arrivals;
  std::optional<Error> later;
  while (!events.empty() && !later) {
    const Event& e = events.front();
    auto arrival = read_arrival(kind_, e.watch, e.type, e.object, region_label_, field_manager_);
    if (!arrival.ok()) {
      later = arrival.error();
    } else {
      arrivals.push_back(std::move(*arrival));
      events.pop_front();
    }
  }
  {
    std::lock_guard lock(mutex_);
    events_.insert(events_.begin(), std::make_move_iterator(events.begin()),
                   std::make_move_iterator(events.end()));
  }
  strand_.post([this, arrivals = std::move(arrivals), later = std::move(later)] {
    drain(arrivals);
    if (later && !stopping_) return read_later(*later);
    backoff_.reset();
    bool more = false;
    {
      std::lock_guard lock(mutex_);
      if (stopping_) events_.clear();
      more = reading_ = !events_.empty();
    }
    if (!more) return check_ended();
    host_.blocking(kind_.instance(), [this] { read(); });
  });
}

void Watches::read_later(const Error& why) {
  const auto wait = backoff_.next(host_.random(), why.retry_after);
  if (backoff_.failures() == told_after) {
    host_.warn("what the cluster shows waits for its kind",
               {{"kind", kind_.kind()}, {"reason", why.message}});
  }
  retry_.after(wait, [this] { host_.blocking(kind_.instance(), [this] { read(); }); });
}

void Watches::drain(const std::vector<Arrival>& arrivals) {
  if (stopping_) return;
  std::vector<uint32_t> used(watches_.size(), 0);
  for (const Arrival& a : arrivals) {
    ++used[a.watch];
    sink_(a);
  }
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i] > 0 && open_[i]) watches_[i].credit(used[i]);
  }
}

void Watches::stop(std::function<void()> ended) {
  stopping_ = true;
  ended_ = std::move(ended);
  for (size_t i = 0; i < watches_.size(); ++i) {
    if (open_[i]) watches_[i].cancel();
  }
  if (retry_.waiting()) {  // nothing reads
    retry_.cancel();
    std::lock_guard lock(mutex_);
    events_.clear();
    reading_ = false;
  }
  check_ended();
}

void Watches::check_ended() {
  if (living_ > 0 || !ended_) return;
  {
    std::lock_guard lock(mutex_);
    if (reading_) return;
  }
  std::exchange(ended_, nullptr)();
}

}  // namespace davit::applier
