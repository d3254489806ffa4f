#include "reconciliation.hpp"

#include "controller/concurrency_limit.hpp"

#include <boost/json.hpp>

namespace davit::applier {

Reconciliation::Reconciliation(std::shared_ptr<ReconcileContext> context, Task task,
                               std::function<void(Report)> done)
    : context_(std::move(context)),
      task_(std::move(task)),
      done_(std::move(done)),
      claim_{label_value(task_.key.region), label_value(task_.key.kind),
             task_.ns + "/" + task_.name} {
  report_.entry = task_.entry;
  report_.version = task_.version;
  report_.incarnation = task_.incarnation;
  report_.intent = task_.intent;
  report_.applied = std::move(task_.applied);
}

void Reconciliation::start() {
  context_->host.blocking(task_.kind->instance(), [self = shared_from_this()] { self->run(); });
}

void Reconciliation::run() {
  if (task_.intent == Intent::hold) return finish(Report::End::held);
  if (task_.intent == Intent::apply) {
    auto text = decode();
    if (!text.ok()) {
      const Error& e = text.error();
      if (retryable(e.code)) return delay("kind: " + e.message, e.retry_after);
      return refuse(e.where.empty() ? e.message : e.where + ": " + e.message);
    }
    desired_ = std::move(*text);
  }
  rounds_ = 0;
  consult();
}

// Asks the kind, and asks again when it needs to know more.
void Reconciliation::consult() {
  auto output = task_.kind->reconcile(input(desired_));
  if (!output.ok()) {
    const Error& e = output.error();
    if (retryable(e.code)) return delay("kind: " + e.message, e.retry_after);
    return refuse(e.message);
  }
  auto plan = read_plan(*output, task_.kind->description());
  if (!plan.ok()) return refuse(plan.error().message);
  if (!plan->needs.empty()) return meet(std::move(plan->needs));
  plan_ = std::move(*plan);
  rely_on(plan_);
  report_.look_again = plan_.look_again;
  report_.status = std::move(plan_.status);
  if (task_.look_only) return finish(Report::End::looked);
  uids_.assign(plan_.steps.size(), {});
  next();
}

Result<std::string> Reconciliation::decode() const {
  auto text = task_.schema.to_json(task_.kind->description().apply_type, task_.payload.view());
  if (!text.ok()) return text.error().in("the message cannot be read");
  auto valid = task_.kind->validate(*text);
  if (!valid.ok()) return valid.error();
  return text;
}

// The input of reconcile, assembled from texts without parsing them.
std::string Reconciliation::input(std::string_view desired) const {
  json::object record{{"id", task_.key.id},
                      {"region", task_.key.region},
                      {"namespace", task_.ns},
                      {"name", task_.name},
                      {"version", to_string(task_.version)}};
  if (!task_.state.empty()) record["state"] = task_.state;
  if (!task_.annotations.empty()) {
    json::object& annotations = record["annotations"].emplace_object();
    for (const auto& [key, value] : task_.annotations) annotations[key] = value;
  }
  std::string out = "{\"record\":" + json::serialize(record);
  if (!desired.empty()) out.append(",\"desired\":").append(desired);
  out += ",\"observed\":[";
  bool first = true;
  for (const auto& [path, known] : task_.known) {
    if (!known.ours) continue;
    if (!first) out += ',';
    first = false;
    out += *known.text;
  }
  out += "]";
  if (!given_.empty()) {
    out += ",\"given\":";
    char before = '{';
    for (const auto& [id, answer] : given_) {
      out += before + json::serialize(json::string(id)) + ":" + answer;
      before = ',';
    }
    out += '}';
  }
  out.append(",\"features\":").append(features);
  out += ",\"now_unix_ms\":" + std::to_string(context_->host.unix_ms()) + "}";
  return out;
}

// Carries out the plan in order. A step is done at once, or goes on when its answer comes.
void Reconciliation::next() {
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

void Reconciliation::step_on() {
  ++step_;
  current_ = {};
}

std::optional<json::object> Reconciliation::answered(const cluster::Response& r) {
  boost::system::error_code bad;
  json::value object = json::parse(r.body, bad);
  const json::object* answer = bad ? nullptr : object.if_object();
  const json::value* metadata = answer == nullptr ? nullptr : answer->if_contains("metadata");
  if (metadata != nullptr && metadata->is_object()) return std::move(object.get_object());
  retry("the cluster answered something that is not an object of Kubernetes");
  return {};
}

void Reconciliation::request(cluster::Request q,
                             std::function<void(const cluster::Response&)> then) {
  const std::string body = std::move(q.body);
  request(std::move(q), body, std::move(then));
}

void Reconciliation::request(cluster::Request q, std::string_view body,
                             std::function<void(const cluster::Response&)> then) {
  const auto now = context_->host.now();
  const std::chrono::nanoseconds paused_until(context_->paused_until.load());
  if (now < paused_until) {
    return retry("the API server asked for a pause",
                 std::chrono::ceil<std::chrono::milliseconds>(paused_until - now));
  }
  if (q.verb == DAVIT_VERB_APPLY) context_->applies.add();
  if (q.verb == DAVIT_VERB_DELETE) context_->deletes.add();
  q.deadline_ns = (now + context_->rules.request_timeout).count();
  Answer answer{
      q.verb + ' ' + q.resource.group + '/' + q.resource.resource, now, {}, false, false, {}};
  context_->cluster.request(q, body,
                            [self = shared_from_this(), answer = std::move(answer),
                             then = std::move(then)](cluster::Response r) mutable {
                              auto* one = self.get();
                              answer.took = one->context_->host.now() - answer.sent;
                              answer.overloaded = controller::overloaded(r);
                              answer.of_webhook = names_webhook(r);
                              answer.retry_after = r.retry_after;
                              one->context_->host.blocking(
                                  one->task_.kind->instance(),
                                  [self = std::move(self), answer = std::move(answer),
                                   then = std::move(then), r = std::move(r)]() mutable {
                                    self->report_.answers.push_back(std::move(answer));
                                    then(r);
                                  });
                            });
}

void Reconciliation::failed(const ObjectName& name, const cluster::Response& r) {
  failed(name, name.text() + ": " + describe(r), r);
}

void Reconciliation::failed(const ObjectName& name, std::string why, const cluster::Response& r) {
  const Meaning m = meaning(r, context_->rules.force);
  if (m == Meaning::refused || m == Meaning::immutable) return park_on(name, std::move(why));
  report_.right_refused = m == Meaning::no_right;
  report_.parked_on = watch_of(name);  // in case the hub turns this retry into a park
  report_.subject = target(name);
  retry(std::move(why), r.retry_after);
}

void Reconciliation::park_on(const ObjectName& name, std::string why) {
  report_.parked_on = watch_of(name);
  report_.subject = target(name);
  park(std::move(why));
}

void Reconciliation::park(std::string why) {
  report_.why = std::move(why);
  finish(Report::End::parked);
}

void Reconciliation::retry(std::string why, std::chrono::milliseconds after) {
  report_.why = std::move(why);
  report_.retry_after = after;
  finish(Report::End::retry);
}

void Reconciliation::delay(std::string why, std::chrono::milliseconds after) {
  report_.delayed = true;
  retry(std::move(why), after);
}

void Reconciliation::finish(Report::End end) {
  report_.end = end;
  if (end != Report::End::done && end != Report::End::retry) note_unplaced();
  if (end == Report::End::parked || report_.right_refused) {
    if (report_.subject.kind.empty()) report_.subject = first_of_ours();
    for (const auto& [path, known] : task_.known) {
      if (known.grounds) report_.grounds += fingerprint_without_status(*known.text);
    }
  }
  auto done = std::move(done_);
  done_ = nullptr;
  done(std::move(report_));
}

void Reconciliation::look_again_in(std::chrono::nanoseconds wait) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wait);
  auto& look_again = report_.look_again;
  look_again = look_again.count() > 0 ? std::min(look_again, ms) : ms;
}

size_t Reconciliation::watch_of(const kind::Resource& as) const {
  return static_cast<size_t>(&as - task_.kind->description().resources.data());
}

size_t Reconciliation::watch_of(const ObjectName& name) const {
  for (const auto& r : task_.kind->description().resources) {
    if (r.group == name.resource.group && r.resource == name.resource.resource) return watch_of(r);
  }
  return Report::npos;
}

}  // namespace davit::applier
