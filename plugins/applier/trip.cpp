#include "trip.hpp"

#include <boost/json.hpp>

namespace davit::applier {
namespace {

// How soon to look at a name again that is on its way out.
constexpr std::chrono::milliseconds leaving_wait{500};

}  // namespace

bool Ensured::contains(const std::string& path) const {
  std::lock_guard lock(mutex_);
  return paths_.contains(path);
}
void Ensured::add(const std::string& path) {
  std::lock_guard lock(mutex_);
  paths_.insert(path);
}
void Ensured::forget(const std::string& path) {
  std::lock_guard lock(mutex_);
  paths_.erase(path);
}

Trip::Trip(std::shared_ptr<Workshop> shop, Strand strand, Task task,
           std::function<void(Report)> done)
    : shop_(std::move(shop)),
      strand_(std::move(strand)),
      task_(std::move(task)),
      done_(std::move(done)),
      region_label_(label_value(task_.key.region)) {
  report_.slot = task_.slot;
  report_.version = task_.version;
  report_.incarnation = task_.incarnation;
  report_.wish = task_.wish;
  report_.applied = std::move(task_.applied);
}

void Trip::start() {
  strand_.post([self = shared_from_this()] { self->run(); });
}

void Trip::run() {
  if (task_.wish == Wish::hold) return finish(Report::End::held);
  std::string desired;
  if (task_.wish == Wish::apply) {
    auto text = decode();
    if (!text.ok())
      return park(text.error().where.empty() ? text.error().message
                                             : text.error().where + ": " + text.error().message);
    desired = std::move(*text);
  }
  auto output = task_.kind->reconcile(input(task_.wish == Wish::apply ? &desired : nullptr));
  if (!output.ok()) return park(output.error().message);
  auto plan = read_plan(*output, task_.kind->description());
  if (!plan.ok()) return park(plan.error().message);
  plan_ = std::move(*plan);
  report_.look_again = plan_.look_again;
  report_.status = std::move(plan_.status);
  if (task_.look_only) return finish(Report::End::looked);
  uids_.assign(plan_.steps.size(), {});
  next();
}

Result<std::string> Trip::decode() const {
  auto text = task_.schema.to_json(task_.kind->description().apply_type, task_.payload.view());
  if (!text.ok()) return text.error().in("the message cannot be read");
  auto valid = task_.kind->validate(*text);
  if (!valid.ok()) return valid.error();
  return text;
}

// The input of reconcile, put together from texts without parsing them.
std::string Trip::input(const std::string* desired) const {
  const json::object record{{"id", task_.key.id},
                            {"region", task_.key.region},
                            {"namespace", task_.ns},
                            {"name", task_.name},
                            {"version", std::to_string(task_.version)}};
  std::string out = "{\"record\":" + json::serialize(record);
  if (desired != nullptr) out += ",\"desired\":" + *desired;
  out += ",\"observed\":[";
  bool first = true;
  for (const auto& [path, known] : task_.known) {
    if (!known.ours) continue;
    if (!first) out += ',';
    first = false;
    out += *known.text;
  }
  out += "],\"now_unix_ms\":" + std::to_string(shop_->host.unix_ms()) + "}";
  return out;
}

// One thing after another; each either is done at once or goes on from its answer.
void Trip::next() {
  while (step_ < plan_.steps.size()) {
    Step& step = plan_.steps[step_];
    const bool go_on = step.mode == Mode::ensure ? ensure(step) : apply(step);
    if (!go_on) return;
    step_on();
  }
  while (removal_ < plan_.removals.size()) {
    if (!remove(plan_.removals[removal_])) return;
    ++removal_;
  }
  finish(Report::End::done);
}

void Trip::step_on() {
  ++step_;
  replaced_ = taken_over_ = false;
}

bool Trip::ensure(Step& step) {
  const std::string path = step.name.path();
  if (shop_->ensured.contains(path) || task_.known.contains(path)) return true;
  cluster::Request q;
  q.verb = DAVIT_VERB_CREATE;
  q.resource = step.name.resource;
  q.ns = step.name.ns;
  q.query = {{"fieldManager", shop_->rules.field_manager}};
  q.body = json::serialize(step.object);
  request(std::move(q), [this, path](const cluster::Response& r) {
    const Meaning m = meaning(r, true);
    if (m != Meaning::fine && m != Meaning::exists) return failed(plan_.steps[step_].name, r);
    shop_->ensured.add(path);
    step_on();
    next();
  });
  return false;
}

bool Trip::apply(Step& step) {
  json::object& metadata = step.object.get_object()["metadata"].get_object();
  if (replaced_ || taken_over_) {  // the same object once more, stamped already
    send_apply(step, fingerprint(step.object));
    return false;
  }
  json::value& labels = metadata["labels"];
  if (!labels.is_object()) labels = json::object();
  labels.get_object()[stamp::region] = region_label_;
  json::value& annotations = metadata["annotations"];
  if (!annotations.is_object()) annotations = json::object();
  if (step.mode == Mode::apply) {
    labels.get_object()[stamp::kind] = label_value(task_.key.kind);
    annotations.get_object()[stamp::id] = task_.key.id;
    annotations.get_object()[stamp::record] = task_.ns + "/" + task_.name;
  }
  if (step.owner != SIZE_MAX) {
    const Step& owner = plan_.steps[step.owner];
    if (uids_[step.owner].empty()) {
      park("kind: " + step.name.text() + " is to be owned by an object without a uid");
      return false;
    }
    metadata["ownerReferences"] =
        json::array{json::object{{"apiVersion", owner.object.get_object().at("apiVersion")},
                                 {"kind", owner.as->kind},
                                 {"name", owner.name.name},
                                 {"uid", uids_[step.owner]},
                                 {"controller", step.controller},
                                 {"blockOwnerDeletion", step.controller}}};
  }
  const uint64_t rendered = fingerprint(step.object);
  if (skip(step, rendered)) {
    shop_->skips.add();
    return true;
  }
  if (!done_) return false;  // it ended in there
  if (unseen(step) && look_first(step.name, *step.as)) return false;
  send_apply(step, rendered);
  return false;
}

// Whether somebody else's object may stand there that no watch has shown: one that nobody stamped,
// which no selector finds, or any while the watch's first picture is not complete.
bool Trip::unseen(const Step& step) const {
  const std::string path = step.name.path();
  if (task_.known.contains(path) || report_.applied.contains(path)) return false;
  return !shop_->rules.adopt || task_.coverage[watch_of(*step.as)] == Coverage::begun;
}

// Whether the object is there and says what we rendered. May end the trip instead: done_ is empty
// then.
bool Trip::skip(Step& step, uint64_t rendered) {
  const std::string path = step.name.path();
  const auto applied = report_.applied.find(path);
  const bool same = applied != report_.applied.end() && applied->second.rendered == rendered;
  const auto known = task_.known.find(path);
  if (known == task_.known.end()) {
    // Not shown: lost if its watch would have shown it, as applied otherwise.
    if (!same) return false;
    if (task_.coverage[watch_of(*step.as)] == Coverage::complete) {
      shop_->repairs.add();
      return false;
    }
    uids_[step_] = applied->second.uid;
    return true;
  }
  if (same && applied->second.resource_version == known->second.resource_version &&
      of_this_history(applied->second.made_of)) {
    uids_[step_] = applied->second.uid;
    return true;
  }
  boost::system::error_code bad;
  const json::value observed = json::parse(*known->second.text, bad);
  if (bad || !observed.is_object()) return false;
  const Meta meta = meta_of(observed.get_object());
  if (foreign(step.name, meta)) return false;
  if (meta.terminating) {
    retry(step.name.text() + " is being deleted", leaving_wait);
    return false;
  }
  const uint64_t projected = projection(&observed, step.object);
  const bool unchanged = same ? projected == applied->second.projected
                              : applied == report_.applied.end() && meta.hash == hex(rendered) &&
                                    projected == rendered;
  if (!unchanged) {
    if (same) shop_->repairs.add();
    return false;
  }
  if (!of_this_history(meta.made_of)) return false;
  report_.applied[path] = {rendered, projected, meta.uid, meta.resource_version, meta.made_of};
  uids_[step_] = meta.uid;
  return true;
}

// Else its stamp speaks of a store that has been lost, and would not let it be pruned one day.
bool Trip::of_this_history(Cursor made_of) const {
  if (!task_.history || task_.history->empty()) return true;
  return made_of.incarnation == task_.incarnation || knows(*task_.history, made_of);
}

// An object that another region's agent stamped, or that nobody did when we may not adopt, is not
// ours to touch.
bool Trip::foreign(const ObjectName& name, const Meta& meta) {
  if (meta.region == region_label_) return false;
  if (!meta.region.empty()) {
    park(name.text() + " belongs to region \"" + meta.region + "\"");
    return true;
  }
  if (shop_->rules.adopt) return false;
  park(name.text() + " exists and is not ours (adopt = false)");
  return true;
}

// Asks for an object no watch has shown, once. True: the answer will go on.
bool Trip::look_first(const ObjectName& name, const kind::Resource& as) {
  if (!looked_at_.insert(name.path()).second) return false;
  request(name.request(DAVIT_VERB_GET),
          [this, name, &as](const cluster::Response& r) { looked(name, as, r); });
  return true;
}

void Trip::looked(const ObjectName& name, const kind::Resource& as, const cluster::Response& r) {
  const Meaning m = meaning(r, true);
  if (m == Meaning::absent) return next();
  if (m != Meaning::fine) return failed(name, r);
  auto object = answered(r);
  if (!object) return;
  const Meta meta = meta_of(*object);
  compact(*object, as, shop_->rules.field_manager);
  const bool ours = meta.region == region_label_ && meta.record == task_.ns + "/" + task_.name;
  task_.known[name.path()] = {std::make_shared<const std::string>(json::serialize(*object)),
                              meta.resource_version, ours};
  if (!ours) return next();
  // The plan was made without it, and may depend on it.
  step_ = removal_ = 0;
  replaced_ = taken_over_ = false;
  run();
}

void Trip::send_apply(Step& step, uint64_t rendered) {
  json::value body = step.object;
  json::object& annotations =
      body.get_object()["metadata"].get_object()["annotations"].get_object();
  annotations[stamp::version] = std::to_string(task_.version);
  if (task_.incarnation != 0) annotations[stamp::incarnation] = std::to_string(task_.incarnation);
  annotations[stamp::hash] = hex(rendered);
  cluster::Request q = step.name.request(DAVIT_VERB_APPLY);
  q.query = {{"fieldManager", shop_->rules.field_manager},
             {"force", shop_->rules.force ? "true" : "false"}};
  q.body = json::serialize(body);
  request(std::move(q), [this, rendered](const cluster::Response& r) {
    applied(plan_.steps[step_], rendered, r);
  });
}

void Trip::applied(Step& step, uint64_t rendered, const cluster::Response& r) {
  switch (meaning(r, shop_->rules.force)) {
    case Meaning::fine:
      break;
    case Meaning::immutable:
      if (step.replace_on_immutable && !replaced_) return replace(step, describe(r));
      return park(step.name.text() + ": " + describe(r));
    case Meaning::absent:
      // Its namespace has gone since we made it.
      shop_->ensured.forget(ObjectName{{"", "v1", "namespaces"}, "", step.name.ns}.path());
      return retry(step.name.text() + ": " + describe(r));
    case Meaning::refused:
      if (takes_over(step, r)) return take_over(step, r);
      [[fallthrough]];
    default:
      return failed(step.name, r);
  }
  auto object = answered(r);
  if (!object) return;
  const Meta meta = meta_of(*object);
  json::value observed(*std::move(object));
  const uint64_t projected = projection(&observed, step.object);
  report_.applied[step.name.path()] = {rendered, projected, meta.uid, meta.resource_version,
                                       meta.made_of};
  uids_[step_] = meta.uid;
  remember(step.name, *step.as, step.mode == Mode::apply, std::move(observed.get_object()));
  if (meta.terminating) return retry(step.name.text() + " is being deleted", leaving_wait);
  step_on();
  next();
}

// What the cluster says it has now, so that the cache does not lag behind what we did.
void Trip::remember(const ObjectName& name, const kind::Resource& as, bool attributed,
                    json::object object) {
  const size_t watch = watch_of(as);
  if (task_.coverage[watch] == Coverage::none) return;
  const Meta meta = meta_of(object);
  compact(object, as, shop_->rules.field_manager);
  report_.written.push_back({name.path(), static_cast<uint32_t>(watch), attributed,
                             std::make_shared<const std::string>(json::serialize(object)),
                             meta.resource_version});
}

std::optional<json::object> Trip::answered(const cluster::Response& r) {
  boost::system::error_code bad;
  json::value object = json::parse(r.body, bad);
  if (!bad && object.is_object()) return std::move(object.get_object());
  retry("the cluster answered something that is not an object");
  return {};
}

void Trip::request(cluster::Request q, std::function<void(const cluster::Response&)> then) {
  const auto now = shop_->host.now();
  const std::chrono::nanoseconds paused_until(shop_->paused_until.load());
  if (now < paused_until) {
    return retry("the API server asked for a pause",
                 std::chrono::ceil<std::chrono::milliseconds>(paused_until - now));
  }
  if (q.verb == DAVIT_VERB_APPLY) shop_->applies.add();
  if (q.verb == DAVIT_VERB_DELETE) shop_->deletes.add();
  q.deadline_ns = (now + shop_->rules.request_timeout).count();
  Answer answer{q.verb + ' ' + q.resource.group + '/' + q.resource.resource, now, {}, false, {}};
  shop_->cluster.request(q, [self = shared_from_this(), answer = std::move(answer),
                             then = std::move(then)](cluster::Response r) mutable {
    auto* trip = self.get();
    answer.took = trip->shop_->host.now() - answer.sent;
    answer.overloaded = overloaded(r);
    answer.retry_after = r.retry_after;
    trip->strand_.post([self = std::move(self), answer = std::move(answer), then = std::move(then),
                        r = std::move(r)]() mutable {
      self->report_.answers.push_back(std::move(answer));
      then(r);
    });
  });
}

void Trip::failed(const ObjectName& name, const cluster::Response& r) {
  const Meaning m = meaning(r, shop_->rules.force);
  const std::string why = name.text() + ": " + describe(r);
  if (m == Meaning::refused || m == Meaning::immutable) return park(why);
  retry(why, r.retry_after);
}

void Trip::park(std::string why) {
  report_.why = std::move(why);
  finish(Report::End::parked);
}

void Trip::retry(std::string why, std::chrono::milliseconds after) {
  report_.why = std::move(why);
  report_.retry_after = after;
  finish(Report::End::retry);
}

void Trip::finish(Report::End end) {
  report_.end = end;
  auto done = std::move(done_);
  done_ = nullptr;
  done(std::move(report_));
}

size_t Trip::watch_of(const kind::Resource& as) const {
  return static_cast<size_t>(&as - task_.kind->description().resources.data());
}

}  // namespace davit::applier
