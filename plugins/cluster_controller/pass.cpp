#include "pass.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <davit/utf8.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/merge_patch.hpp"

namespace davit::clusters {
namespace {

using namespace std::chrono_literals;

// After its deadline an actuator answers within this time, or counts as stuck.
constexpr auto answered_within = 10s;
constexpr auto children_looked_at_again = 5s;
constexpr size_t said_max = 4096;  // bytes of one text in the status

// What an actuator says for people, so that it can stand in an object: UTF-8, and not too long.
std::string sayable(std::string text) {
  if (!valid_utf8(text)) {
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; }, '?');
  }
  return shortened(text, said_max);
}

std::string how_to_force(const EventRecorder::About& about) {
  return ". To give it up, with whatever is left of it: kubectl -n " + about.ns +
         " patch clusters.cluster.k8s.io " + about.name +
         " --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/finalizers\"}]'";
}

}  // namespace

Pass::Pass(const Surroundings& around, std::string key, std::string text, Ended ended)
    : around_(around), key_(std::move(key)), ended_(std::move(ended)), watchdog_(around.strand) {
  take(text);
  const auto* meta = kubernetes::object_in(cluster_, "metadata");
  about_ = {std::string(kubernetes::text_in(meta, "namespace")),
            std::string(kubernetes::text_in(meta, "name")),
            std::string(kubernetes::text_in(meta, "uid"))};
}

void Pass::take(const std::string& text) {
  text_ = text;
  cluster_ = kubernetes::object_of(text);
  const auto* status = kubernetes::object_in(cluster_, "status");
  stored_ = status == nullptr ? json::object() : *status;
  for (const std::string& patch : patches_) {
    if (apply_status_patch(cluster_, patch).ok()) text_.clear();
  }
}

void Pass::run() {
  switch (step_of(cluster_)) {
    case Step::nothing:
      return end(End::How::done);
    case Step::add_finalizer:
      return add_finalizer();
    case Step::paused:
      found_.phase = Found::Phase::paused;
      found_.message = "the annotation " + std::string(paused_annotation) + " is set";
      return write_status([this] { end(End::How::done); });
    case Step::remove:
      removes_ = true;
      return remove();
    case Step::reconcile:
      return reconcile();
  }
}

void Pass::add_finalizer() {
  write_finalizers(with_finalizer(cluster_), [this](const cluster::Response& r) {
    if (r.code == Code::not_found) return end(End::How::done);
    if (r.code != Code::ok) return fail(r, "the finalizer cannot be added");
    end(End::How::again);
  });
}

void Pass::reconcile() {
  const auto provider = provider_of(around_.configuration.providers, cluster_);
  if (!provider.ok()) return refuse(provider.error());
  const Actuator& first = around_.providers[*provider];
  to_call_ = {&first};
  for (const Actuator& addon : around_.addons) to_call_.push_back(&addon);
  found_.actuator = first.instance;
  const auto* status = kubernetes::object_in(cluster_, "status");
  if (kubernetes::text_in(status, "actuator") == first.instance) return call_next();
  // Before the first call: who begins it goes on with it, whatever happens now.
  found_.message = "the actuator \"" + first.instance + "\" begins";
  write_status([this] { call_next(); });
}

void Pass::remove() {
  found_.phase = Found::Phase::removing;
  const auto removers = removers_of(around_.configuration.providers, cluster_);
  if (!removers.ok()) return refuse(removers.error());
  for (const Actuator& addon : around_.addons) to_call_.push_back(&addon);
  std::ranges::reverse(to_call_);
  for (const size_t i : *removers) to_call_.push_back(&around_.providers[i]);
  around_.configuration.children_first ? remove_children() : call_next();
}

void Pass::remove_children() {
  children_ = std::make_shared<Children>(
      [this](cluster::Request q, auto done) { ask(std::move(q), std::move(done)); }, cluster_);
  children_->remove([this](const Result<size_t>& left) {
    if (!left.ok()) return refuse(left.error());
    if (*left == 0) return call_next();
    again_ = children_looked_at_again;
    found_.message = std::to_string(*left) +
                     " MachineDeployments, MachineSets and Machines of it are being deleted first";
    write_status([this] { end(End::How::again, again_); });
  });
}

void Pass::call_next() {
  if (next_ == to_call_.size()) return all_called();
  call(*to_call_[next_++]);
}

void Pass::call(const Actuator& actuator) {
  called_ = around_.host.now();
  operation_ = Operation((called_ + around_.configuration.limits.call_timeout).count());
  open_ = true;
  watchdog_.after(around_.configuration.limits.call_timeout + answered_within,
                  [this, self = shared_from_this(), &actuator] { no_answer(actuator); });
  actuator::Call call{
      about_.ns, about_.name, about_.uid, text_.empty() ? json::serialize(cluster_) : text_,
      [self = shared_from_this()](const actuator::Event& e) {
        self->around_.strand.post([self, e] { self->event(e.warning, e.reason, e.message); });
      }};
  auto done = [self = shared_from_this(), ticket = around_.outstanding.begin(), &actuator,
               kept = operation_](const actuator::Outcome& outcome) {
    self->around_.strand.post(
        [self, ticket, &actuator, outcome] { self->answer(actuator, outcome); });
  };
  if (removes_) {
    actuator.client.remove(std::move(call), std::move(done), operation_);
  } else {
    actuator.client.reconcile(std::move(call), std::move(done), operation_);
  }
}

void Pass::answer(const Actuator& actuator, const actuator::Outcome& outcome) {
  open_ = false;
  watchdog_.cancel();
  around_.called(actuator, removes_, outcome.error ? outcome.error->code : Code::ok,
                 around_.host.now() - called_);
  if (closed_ || !ended_) return;
  if (const auto applied = apply_status_patch(cluster_, outcome.status_patch); !applied.ok()) {
    return refuse(applied.error().in("actuator \"" + actuator.instance + "\""));
  }
  if (!outcome.status_patch.empty()) {
    patches_.push_back(outcome.status_patch);
    text_.clear();
  }
  if (operation_.cancelled()) {  // the Cluster has changed: the next pass sees how
    found_.message = "the Cluster is to go";
    return write_status([this] { end(End::How::again); });
  }
  if (outcome.error) {
    found_.error_reason = sayable(outcome.error_reason);
    return refuse(*outcome.error);
  }
  if (outcome.requeue_after > 0ms) {
    again_ = outcome.requeue_after;
    found_.message = outcome.progress.empty() ? "the actuator \"" + actuator.instance + "\" goes on"
                                              : sayable(outcome.progress);
    return write_status([this] { end(End::How::again, again_); });
  }
  call_next();
}

void Pass::no_answer(const Actuator& actuator) {
  if (closed_ || !ended_) return;
  error_ =
      Error{Code::deadline_exceeded,
            "the actuator \"" + actuator.instance +
                "\" has not answered in time, and is not called for this Cluster until it does"};
  around_.host.error("an actuator does not answer",
                     {{"actuator", actuator.instance}, {"cluster", key_}});
  found_.message = error_->message;
  found_.error_reason = error_reason_of(error_->code, removes_, was_ready(cluster_));
  write_status([this] { end(End::How::abandoned); });
}

// Says what failed, and comes again after a back-off.
void Pass::refuse(const Error& error) {
  error_ = error;
  if (found_.error_reason.empty())
    found_.error_reason = error_reason_of(error.code, removes_, was_ready(cluster_));
  found_.message = sayable((error.where.empty() ? "" : error.where + ": ") + error.message);
  event(true, found_.error_reason, found_.message);
  if (removes_) found_.message += how_to_force(about_);
  write_status([this] { end(End::How::failed, error_->retry_after); });
}

void Pass::all_called() {
  if (removes_) {
    const auto drop = [this] { drop_finalizer(around_.configuration.conflict_retries); };
    return patches_.empty() ? drop() : write_status(drop);
  }
  found_.phase = Found::Phase::ready;
  found_.message.clear();
  write_status([this] { end(End::How::done); });
}

void Pass::event(bool warning, std::string reason, std::string message) {
  if (closed_) return;
  around_.events->record(about_,
                         {warning, sayable(std::move(reason)), sayable(std::move(message))});
}

void Pass::close() {
  closed_ = true;
  ended_ = nullptr;
  watchdog_.cancel();
  operation_.cancel();
}

void Pass::end(End::How how, std::chrono::milliseconds after) {
  if (!ended_) return;
  if (open_) how = End::How::abandoned;  // also if the status cannot be written
  std::exchange(ended_, nullptr)({how, after, found_});
}

}  // namespace davit::clusters
