#include "classifier.hpp"

#include <davit/kinds.hpp>

namespace davit::streamer {

namespace {

// How many records the log of holds remembers. Above it all are forgotten and may be logged again.
constexpr size_t logged_max = 10'000;

bool paused(const davit_record& r) {
  for (size_t i = 0; i < r.annotations_count; ++i) {
    if (view(r.annotations[i].key) == pause_annotation)
      return view(r.annotations[i].value) == "true";
  }
  return false;
}

}  // namespace

Classifier::Classifier(Host host) : host_(host) {}

Result<> Classifier::wire() {
  auto clients = kind::each_once(host_);
  if (!clients.ok()) return clients.error();
  for (auto& client : *clients) {
    auto schema = client.schema(host_);
    if (!schema.ok()) return schema.error().in("kind \"" + client.kind() + "\"");
    const auto& description = client.description();
    kinds_.emplace(
        client.kind(),
        Kind{client, *schema, Shape(view(description.descriptor_set), description.apply_type)});
  }
  return {};
}

const Classifier::Kind* Classifier::kind(std::string_view name) const {
  auto it = kinds_.find(name);
  return it == kinds_.end() ? nullptr : &it->second;
}

Judgement Classifier::judge(const Kind& kind, const davit_record& r) {
  if ((r.flags & DAVIT_RECORD_LIVE) == 0) return {Verb::remove, Cause::none, {}};
  if (paused(r))
    return {Verb::hold, Cause::paused, "paused by annotation " + std::string(pause_annotation)};

  // The store keeps the JSON beside the payload. A store that was filled without it needs decoding.
  std::string decoded;
  std::string_view json = view(r.json);
  if (json.empty() && r.payload.len != 0) {
    auto made = kind.schema.to_json(kind.client.description().apply_type, view(r.payload));
    if (!made.ok())
      return {Verb::hold, Cause::undecodable, "payload cannot be decoded: " + made.error().message};
    decoded = std::move(*made);
    json = decoded;
  }
  switch (kind.client.classify(view(r.state), json)) {
    case kind::Class::remove:
      return {Verb::remove, Cause::none, {}};
    case kind::Class::apply:
      break;
    case kind::Class::unhandled:
      return {Verb::hold, Cause::unhandled,
              "kind " + kind.client.kind() + " does not handle state \"" + text(r.state) + "\""};
  }
  if (!kind.shape.fits(view(r.payload)))
    return {Verb::hold, Cause::undecodable, "payload cannot be decoded"};
  return {Verb::apply, Cause::none, {}};
}

Change Classifier::change(const Kind& kind, const davit_record& r) {
  Judgement j = judge(kind, r);
  Change out{r.version, text(r.key.id),        text(r.ns), text(r.name), j.verb,
             {},        r.committed_at_unix_ms};
  if ((r.flags & DAVIT_RECORD_LIVE) != 0) {
    if (view(r.state) != kind.client.description().default_state) out.state = text(r.state);
    out.annotations = from_abi(r.annotations, r.annotations_count);
  }
  if (j.verb == Verb::apply) out.body = std::string(view(r.payload));
  if (j.verb == Verb::hold) {
    if (j.cause != Cause::paused) {
      log_hold(text(r.key.kind) + '/' + text(r.key.region) + '/' + text(r.key.id), r.version,
               j.reason);
    }
    out.body = std::move(j.reason);
  }
  return out;
}

void Classifier::log_hold(const std::string& record, uint64_t version, const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    if (logged_.size() >= logged_max) logged_.clear();
    auto& logged = logged_[record];
    if (logged == version) return;
    logged = version;
  }
  host_.warn("record held",
             {{"record", record}, {"version", std::to_string(version)}, {"reason", reason}});
}

}  // namespace davit::streamer
