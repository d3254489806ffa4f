#include "watch.hpp"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <charconv>

namespace davit::cluster_memory {
namespace {

namespace json = boost::json;

json::object metadata_of(const json::object& object) {
  json::object out = {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
  if (const auto* meta = object.if_contains("metadata")) out["metadata"] = *meta;
  return out;
}

}  // namespace

Result<Watch> Watch::make(const cluster::WatchRequest& request, uint32_t credit, size_t queue_max) {
  auto labels = LabelSelector::parse(request.label_selector);
  if (!labels.ok()) return labels.error();
  auto fields = FieldSelector::parse(request.field_selector);
  if (!fields.ok()) return fields.error();
  Watch w;
  w.request_ = request;
  w.labels_ = std::move(*labels);
  w.fields_ = std::move(*fields);
  w.credit_ = credit;
  w.queue_max_ = queue_max;
  return w;
}

void Watch::begin(const Store& store) {
  const std::string& from = request_.resource_version;
  uint64_t version = 0;
  const auto [end, bad] = std::from_chars(from.data(), from.data() + from.size(), version);
  std::vector<Event> missed;
  const bool resumes = !from.empty() && bad == std::errc() && end == from.data() + from.size() &&
                       store.since(version, missed);
  if (!resumes) return restart(store);
  room_ = missed.size();
  for (const auto& e : missed) offer(e);
  room_ = waiting_.size() + queue_max_;
}

void Watch::restart(const Store& store) {
  waiting_.clear();
  behind_ = false;
  waiting_.push_back({DAVIT_WATCH_RESTART, nullptr, store.version()});
  for (auto& object :
       store.list({request_.resource.group, request_.resource.resource}, request_.ns)) {
    if (selects(object)) waiting_.push_back({DAVIT_WATCH_ADDED, object, 0});
  }
  waiting_.push_back({DAVIT_WATCH_SYNCED, nullptr, store.version()});
  room_ = waiting_.size() + queue_max_;
}

bool Watch::selects(const Object& object) const {
  return object != nullptr && labels_.matches(object_at(*object, {"metadata", "labels"})) &&
         fields_.matches(string_at(*object, {"metadata", "namespace"}),
                         string_at(*object, {"metadata", "name"}));
}

void Watch::offer(const Event& event) {
  if (behind_ ||
      event.key.collection != Collection{request_.resource.group, request_.resource.resource})
    return;
  if (!request_.ns.empty() && event.key.ns != request_.ns) return;
  const bool was = selects(event.before);
  const bool is = selects(event.after);
  if (!was && !is) return;
  if (waiting_.size() >= room_) {
    waiting_.clear();
    behind_ = true;
    return;
  }
  const int32_t type = !is ? DAVIT_WATCH_DELETED : was ? DAVIT_WATCH_MODIFIED : DAVIT_WATCH_ADDED;
  // An object that has left the selection is shown in its present state, as the API does.
  waiting_.push_back({type, event.after != nullptr ? event.after : event.before, 0});
}

std::optional<Watch::Item> Watch::next(const Store& store) {
  if (credit_ == 0) return std::nullopt;
  if (behind_) restart(store);
  if (waiting_.empty()) return std::nullopt;
  --credit_;
  Item item{waiting_.front().type, render(waiting_.front())};
  waiting_.pop_front();
  if (room_ > queue_max_) --room_;  // the first events to go are the initial ones
  return item;
}

std::string Watch::render(const Waiting& w) const {
  if (w.object == nullptr) {
    return json::serialize(
        json::object{{"metadata", {{"resourceVersion", std::to_string(w.version)}}}});
  }
  return request_.metadata_only ? json::serialize(metadata_of(*w.object))
                                : json::serialize(*w.object);
}

}  // namespace davit::cluster_memory
