#include "classifier.hpp"

#include <davit/kinds.hpp>

namespace davit::streamer {

namespace {

// How many records the log of holds remembers. Above it all are forgotten and may be logged again.
constexpr size_t logged_max = 10'000;

bool paused(const Record& r) {
  for (const auto& [key, value] : r.annotations) {
    if (key == pause_annotation) return value == "true";
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
    kinds_.emplace(client.kind(),
                   Kind{client, *schema,
                        WireValidator(view(description.descriptor_set), description.apply_type)});
  }
  return {};
}

const Classifier::Kind* Classifier::kind(std::string_view name) const {
  auto it = kinds_.find(name);
  return it == kinds_.end() ? nullptr : &it->second;
}

Result<Judgement> Classifier::judge(const Kind& kind, const Record& r) {
  if (!r.live) return Judgement{Verb::remove, Cause::none, {}};
  if (paused(r)) {
    return Judgement{Verb::hold, Cause::paused,
                     "paused by annotation " + std::string(pause_annotation)};
  }

  // The store keeps the JSON beside the payload. A store that was filled without it needs decoding.
  std::string decoded;
  std::string_view json = r.json;
  if (json.empty() && !r.payload.empty()) {
    auto made = kind.schema.to_json(kind.client.description().apply_type, r.payload);
    if (!made.ok()) {
      return Judgement{Verb::hold, Cause::undecodable,
                       "payload cannot be decoded: " + made.error().message};
    }
    decoded = std::move(*made);
    json = decoded;
  }
  const std::string name = "kind " + kind.client.kind();
  const auto found = kind.client.classify(r.state, json);
  if (!found.ok()) {
    if (retryable(found.error().code)) return found.error().in(name);
    return Judgement{Verb::hold, Cause::unhandled,
                     name + " cannot classify it: " + found.error().message};
  }
  switch (*found) {
    case kind::Class::remove:
      return Judgement{Verb::remove, Cause::none, {}};
    case kind::Class::apply:
      break;
    case kind::Class::unhandled:
      return Judgement{Verb::hold, Cause::unhandled,
                       name + " does not handle state \"" + r.state + "\""};
  }
  if (!kind.validator.fits(r.payload))
    return Judgement{Verb::hold, Cause::undecodable, "payload cannot be decoded"};
  return Judgement{Verb::apply, Cause::none, {}};
}

Result<Change> Classifier::change(const Kind& kind, Record r) {
  auto j = judge(kind, r);
  if (!j.ok()) {
    delayed(r.key, Delay::stream, r.version, j.error());
    return j.error();
  }
  not_delayed(r.key, Delay::stream, r.version);
  return change(kind, std::move(r), std::move(*j));
}

void Classifier::delayed(const Key& key, const char* stage, Version version, const Error& why) {
  delays_.note(key, stage, version, why.message, host_.unix_ms());
}

Change Classifier::change(const Kind& kind, Record r, Judgement j) {
  Change out{r.version, r.key.id, r.ns, r.name, j.verb, {}, r.committed_at_unix_ms};
  if (r.live) {
    if (r.state != kind.client.description().default_state) out.state = r.state;
    out.annotations = std::move(r.annotations);
  }
  if (j.verb == Verb::apply) {
    out.body = std::move(r.payload);
    out.json = std::move(r.json);
  }
  if (j.verb == Verb::hold) {
    if (j.cause != Cause::paused)
      log_hold(r.key.kind + '/' + r.key.region + '/' + r.key.id, r.version, j.reason);
    out.body = std::move(j.reason);
  }
  return out;
}

void Classifier::log_hold(const std::string& record, Version version, const std::string& reason) {
  {
    std::lock_guard lock(mutex_);
    if (logged_.size() >= logged_max) logged_.clear();
    auto& logged = logged_[record];
    if (logged == version) return;
    logged = version;
  }
  host_.warn("record held",
             {{"record", record}, {"version", to_string(version)}, {"reason", reason}});
}

}  // namespace davit::streamer
