// The Sender for a davit.v1.AgentService.
#include <davit/v1/agent.pb.h>

#include "sender.hpp"

namespace davit::reporter {

bool worth_retrying(Code code) {
  switch (code) {
    case Code::invalid_argument:
    case Code::not_found:
    case Code::out_of_range:
    case Code::failed_precondition:
    case Code::unimplemented:
    case Code::already_exists:
      return false;
    default:
      return true;
  }
}

namespace {

void fill(const Status& from, v1::Status& to) {
  to.set_kind(from.key.kind);
  to.set_id(from.key.id);
  to.set_region(from.key.region);
  to.set_observed_version(from.observed_version.value());
  to.set_observed_incarnation(from.observed_incarnation.value());
  to.set_health(from.health);
  to.set_desired(from.desired);
  to.set_updated(from.updated);
  to.set_ready(from.ready);
  to.set_stale(from.stale);
  to.set_message(from.message);
  to.set_parked(from.parked);
  to.set_detail(from.detail);
  to.set_gone(from.gone);
  to.set_epoch(from.epoch.value());
  to.set_sequence(from.sequence);
  to.set_reported_at_unix_ms(from.reported_at_unix_ms);
  for (const Child& c : from.children) {
    v1::Child& child = *to.add_children();
    child.set_name(c.name);
    child.set_address(c.address);
    child.set_status(c.status);
    child.set_cpu_millicores(c.cpu_millicores);
    child.set_memory_mib(c.memory_mib);
  }
}

class DavitV1 : public Sender {
 public:
  explicit DavitV1(Calls& calls) : calls_(calls) {}

  void send(std::vector<Status> statuses, std::function<void(Sent)> done) override {
    // A batch that the peer refuses as a whole is halved until the refused status stands alone.
    std::vector<Status> later;
    if (statuses.size() > batch_max_) {
      later.assign(
          std::make_move_iterator(statuses.begin() + static_cast<std::ptrdiff_t>(batch_max_)),
          std::make_move_iterator(statuses.end()));
      statuses.resize(batch_max_);
    }
    v1::ReportRequest request;
    for (const Status& s : statuses) fill(s, *request.add_statuses());
    auto answered = [this, statuses = std::move(statuses), later = std::move(later),
                     done = std::move(done)](Result<std::string> r) mutable {
      Sent sent = r.ok() ? read(*r, statuses) : refused(r.error(), statuses);
      sent.again.insert(sent.again.end(), std::make_move_iterator(later.begin()),
                        std::make_move_iterator(later.end()));
      done(std::move(sent));
    };
    calls_.unary("davit.v1.AgentService/Report", request.SerializeAsString(), std::move(answered));
  }

  void progress(const Progress& p, std::function<void(Result<Epoch>)> done) override {
    v1::ProgressRequest request;
    request.set_agent(p.agent);
    request.set_software(p.software);
    request.set_epoch(p.epoch.value());
    request.set_sequence(p.sequence);
    for (const auto& k : p.kinds) {
      auto& kind = *request.add_kinds();
      kind.set_kind(k.kind);
      kind.mutable_applied()->set_incarnation(k.applied.incarnation.value());
      kind.mutable_applied()->set_version(k.applied.version.value());
    }
    for (const auto& i : p.issues) {
      auto& issue = *request.add_issues();
      issue.set_kind(i.kind);
      issue.set_id(i.id);
      issue.set_namespace_(i.ns);
      issue.set_name(i.name);
      issue.set_version(i.version.value());
      issue.set_condition(i.condition);
      issue.set_reason(i.reason);
      issue.set_incarnation(i.incarnation.value());
    }
    calls_.unary("davit.v1.AgentService/Progress", request.SerializeAsString(),
                 [done = std::move(done)](Result<std::string> r) {
                   v1::ProgressResponse response;
                   if (!r.ok()) return done(r.error());
                   // An answer that cannot be read counts as one without an epoch.
                   if (!response.ParseFromString(*r)) response.Clear();
                   done(Epoch(response.epoch_taken()));
                 });
  }

  bool wants_progress() const override { return true; }

 private:
  Sent read(const std::string& answer, std::vector<Status>& statuses) {
    Sent out;
    v1::ReportResponse response;
    if (!response.ParseFromString(answer)) {
      out.failure = Error{Code::internal, "the peer's answer to a report cannot be read"};
      out.again = std::move(statuses);
      return out;
    }
    batch_max_ = std::min<size_t>(batch_max_ * 2, SIZE_MAX / 4);
    for (const auto& r : response.refusals())
      out.refusals.push_back({r.kind(), r.id(), r.message()});
    return out;
  }

  Sent refused(const Error& error, std::vector<Status>& statuses) {
    Sent out;
    if (worth_retrying(error.code)) {
      out.failure = error;
    } else if (statuses.size() > 1) {
      batch_max_ = statuses.size() / 2;
      out.again = std::move(statuses);
      return out;
    } else {
      for (const Status& s : statuses)
        out.refusals.push_back({s.key.kind, s.key.id, error.message});
      return out;
    }
    out.again = std::move(statuses);
    return out;
  }

  Calls& calls_;
  size_t batch_max_ = SIZE_MAX / 4;
};

}  // namespace

std::unique_ptr<Sender> davit_v1(Calls& calls) {
  return std::make_unique<DavitV1>(calls);
}

}  // namespace davit::reporter
