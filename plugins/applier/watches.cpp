#include "watches.hpp"

#include <boost/json.hpp>

#include "object.hpp"
#include "ownership.hpp"

namespace davit::applier {

Arrival read_arrival(const kind::Client& kind, uint32_t watch, int32_t type,
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
  if (auto named = kind.attribute(text); named.ok()) {
    out.attributed = true;
    out.ns = named->ns;
    out.name = named->name;
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
  const auto& resources = kind_.description().resources;
  watches_.resize(resources.size());
  open_.resize(resources.size(), false);
  for (uint32_t i = 0; i < resources.size(); ++i) {
    const auto& r = resources[i];
    if (!watched(r)) continue;
    cluster::WatchRequest request;
    request.resource = {r.group, r.version, r.resource};
    request.label_selector = r.selector;
    cluster::Watcher watcher;
    watcher.event = [this, i, region_label, manager = rules.field_manager](
                        int32_t type, std::string_view object) {
      arrived(read_arrival(kind_, i, type, object, region_label, manager));
    };
    watcher.ended = [this] { strand_.post([this] { ended(); }); };
    ++living_;
    open_[i] = true;
    auto watch = cluster.watch(request, rules.watch_credit, std::move(watcher));
    if (watch.ok()) {
      watches_[i] = *watch;
      continue;
    }
    --living_;
    open_[i] = false;
    arrived(read_arrival(kind_, i, DAVIT_WATCH_TROUBLE, watch.error().message, region_label,
                         rules.field_manager));
  }
}

void Watches::arrived(Arrival arrival) {
  bool first = false;
  {
    std::lock_guard lock(mutex_);
    first = arrivals_.empty();
    arrivals_.push_back(std::move(arrival));
  }
  if (first) strand_.post([this] { drain(); });
}

void Watches::drain() {
  std::vector<Arrival> arrivals;
  {
    std::lock_guard lock(mutex_);
    arrivals.swap(arrivals_);
  }
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
  if (living_ == 0) ended_();
}

void Watches::ended() {
  if (--living_ == 0 && ended_) ended_();
}

}  // namespace davit::applier
