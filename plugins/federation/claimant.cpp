#include "claimant.hpp"

#include "objects.hpp"

namespace davit::federation {
namespace {

const cluster::Resource leases{"coordination.k8s.io", "v1", "leases"};
constexpr uint32_t credit = 16;
constexpr std::chrono::seconds answer_within{30};
// What is refused so long, or so often, is no passing trouble.
constexpr std::chrono::minutes refused_for{1};
constexpr size_t refusals_max = 3;

std::string holder_of(const json::object& lease) {
  return std::string(kubernetes::text_in(kubernetes::object_in(lease, "spec"), "holderIdentity"));
}

}  // namespace

Claimant::Claimant(Host host, Strand strand, Outstanding& outstanding, cluster::Client upstream,
                   Name name, std::function<void()> told)
    : host_(host),
      strand_(strand),
      outstanding_(outstanding),
      upstream_(std::move(upstream)),
      name_(std::move(name)),
      lease_(lease_name(name_.robot)),
      told_(std::move(told)),
      claim_(name_.cluster),
      timer_(strand),
      rivals_(host.gauge("davit_federation_name_contested",
                         "Whether another cluster goes by the name of this robot, too")) {}

void Claimant::start() {
  cluster::WatchRequest request;
  request.resource = leases;
  request.ns = name_.ns;
  request.field_selector = "metadata.name=" + lease_;
  watch_ = std::make_shared<controller::Watched>(strand_, outstanding_);
  watch_->open(upstream_, request, credit,
               [this](int32_t type, std::string_view object) { event(type, object); });
}

void Claimant::close() {
  closed_ = true;
  timer_.cancel();
  if (watch_) watch_->close();
  operation_.cancel();
}

void Claimant::event(int32_t type, std::string_view object) {
  if (closed_) return;
  cache_.event(type, object);
  if (cache_.refused()) {
    // An API server that starts refuses everybody for some seconds.
    return timer_.after(refused_for, [this] { give_up(cache_.reason()); });
  }
  if (!cache_.complete()) return;
  const auto lease = cache_.find(controller::key_of(name_.ns, lease_));
  std::optional<std::string> holder;
  if (lease) holder = holder_of(parse_object(*lease).as_object());
  claim_.seen(holder, host_.now(), host_.random());
  pump();
}

void Claimant::pump() {
  if (closed_) return;
  const std::string rival = claim_.rival(host_.now());
  if (std::exchange(said_, rival) != rival) {
    rivals_.set(rival.empty() ? 0 : 1);
    if (rival.empty()) {
      host_.info("no other cluster goes by the name of this robot any more", {});
    } else {
      host_.error("another cluster goes by the name of this robot, too",
                  {{"robot_name", name_.robot}, {"cluster", rival}, {"own", name_.cluster}});
    }
    told_();
  }
  if (sent_) return;
  const auto due = claim_.due();
  if (due && *due <= host_.now() && cache_.complete()) return send();
  auto next = claim_.quiet_at();
  if (due && (!next || *due < *next)) next = due;
  if (!next || *next <= host_.now()) return timer_.cancel();
  timer_.after(*next - host_.now(), [this] { pump(); });
}

std::string Claimant::body() const {
  const auto known = cache_.find(controller::key_of(name_.ns, lease_));
  json::object lease;
  if (known) {
    lease = parse_object(*known).as_object();
  } else {
    lease = {{"apiVersion", "coordination.k8s.io/v1"},
             {"kind", "Lease"},
             {"metadata", {{"name", lease_}, {"namespace", name_.ns}}}};
  }
  json::object& spec = kubernetes::object_made(lease, "spec");
  const json::value* before = spec.if_contains("leaseTransitions");
  const int64_t transitions = before == nullptr ? -1 : kubernetes::as_integer(*before).value_or(-1);
  spec["holderIdentity"] = name_.cluster;
  spec["leaseTransitions"] = transitions + 1;
  return json::serialize(lease);
}

void Claimant::send() {
  const bool known = cache_.find(controller::key_of(name_.ns, lease_)) != nullptr;
  cluster::Request q;
  q.verb = known ? DAVIT_VERB_UPDATE : DAVIT_VERB_CREATE;
  q.resource = leases;
  q.ns = name_.ns;
  if (known) q.name = lease_;
  q.query = {{"fieldManager", "davit-federation"}};
  q.body = body();
  q.deadline_ns = (host_.now() + answer_within).count();
  sent_ = true;
  upstream_.under(operation_)
      .request(q, [self = shared_from_this(),
                   ticket = outstanding_.begin()](const cluster::Response& r) {
        self->strand_.post([self, ticket, r] {
          self->sent_ = false;
          if (!self->closed_) self->answered(r);
        });
      });
}

void Claimant::answered(const cluster::Response& r) {
  switch (r.code) {
    case Code::permission_denied:
    case Code::invalid_argument:
    case Code::not_found:
      if (++refusals_ >= refusals_max) return give_up(r.message);
      break;
    default:
      refusals_ = 0;
      break;
  }
  // After a success the watch shows it. Otherwise, and if it does not, it is tried again.
  if (claim_.due()) claim_.failed(host_.now(), host_.random());
  pump();
}

void Claimant::give_up(const std::string& why) {
  host_.info("the name of this robot is not claimed: another robot of this name is not noticed",
             {{"robot_name", name_.robot}, {"lease", name_.ns + "/" + lease_}, {"reason", why}});
  closed_ = true;
  strand_.post([self = shared_from_this(), ticket = outstanding_.begin()] { self->close(); });
}

std::string Claimant::trouble() const {
  if (said_.empty()) return {};
  return "robot_name \"" + name_.robot + "\": another cluster (" + said_ +
         ") goes by this name, too, and this is " + name_.cluster +
         ": give one of them another name, or switch one off";
}

}  // namespace davit::federation
