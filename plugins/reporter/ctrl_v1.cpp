// The Sender for a ctrl.v1.ClusterService. It sends the kind's own report for each status, several
// at once, and a heartbeat in place of progress. The header x-davit-observed, which Krane ignores,
// carries what the report has no field for.
#include <ctrl/v1/cluster.pb.h>

#include <algorithm>
#include <map>

#include "sender.hpp"

namespace davit::reporter {
namespace {

// After so many answers UNKNOWN in a row a warning is logged.
constexpr uint32_t told_after = 3;
// How many backoffs are remembered. Above it all are forgotten and start again.
constexpr size_t unknown_max = 100'000;

// One kind's report method.
struct Speaker {
  kind::Client kind;
  Schema schema;
  std::string path, type;
};

bool can_stand_in_a_header(const std::string& id) {
  return !id.empty() && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return c > 0x20 && c < 0x7f && c != ';';
  });
}

std::string observed_header(const Status& s) {
  return "version=" + std::to_string(s.observed_version) + ";desired=" + std::to_string(s.desired) +
         ";updated=" + std::to_string(s.updated) + ";ready=" + std::to_string(s.ready) +
         ";stale=" + std::to_string(s.stale) + ";health=" + s.health + (s.gone ? ";gone=1" : "") +
         ";epoch=" + std::to_string(s.epoch) + ";sequence=" + std::to_string(s.sequence) +
         (can_stand_in_a_header(s.key.id) ? ";id=" + s.key.id : "");
}

class CtrlV1 : public Sender {
 public:
  CtrlV1(Calls& calls, std::map<std::string, Speaker> kinds, size_t parallel, std::string platform,
         Backoff::Limits retry)
      : calls_(calls),
        kinds_(std::move(kinds)),
        parallel_(parallel),
        platform_(std::move(platform)),
        retry_(retry) {}

  void send(std::vector<Status> statuses, std::function<void(Sent)> done) override {
    waiting_ = std::move(statuses);
    next_ = 0;
    sent_ = {};
    done_ = std::move(done);
    pump();
  }

  void progress(const Progress& p, std::function<void(Result<uint64_t>)> done) override {
    ::ctrl::v1::HeartbeatRequest request;
    request.set_region(p.region);
    request.set_platform(platform_);
    calls_.unary("ctrl.v1.ClusterService/Heartbeat", request.SerializeAsString(),
                 [done = std::move(done)](Result<std::string> r) {
                   // This wire has no epochs.
                   done(r.ok() ? Result<uint64_t>(0) : Result<uint64_t>(r.error()));
                 });
  }

  bool wants_progress() const override { return false; }

 private:
  void pump() {
    while (under_way_ < parallel_ && next_ < waiting_.size()) {
      Status& status = waiting_[next_++];
      if (sent_.failure) {
        sent_.again.push_back(std::move(status));  // the peer fails: the rest waits
      } else {
        report(std::move(status));
      }
    }
    if (under_way_ > 0 || next_ < waiting_.size() || !done_) return;
    waiting_.clear();
    auto done = std::move(done_);
    done_ = nullptr;
    done(std::move(sent_));
  }

  void report(Status status) {
    const auto it = kinds_.find(status.key.kind);
    if (it == kinds_.end()) return;   // this wire has no report for the kind
    if (status.name.empty()) return;  // another record has the name, and would get the report
    const Speaker& speaker = it->second;
    const Named named{status.key.id, status.ns, status.name};
    auto text = speaker.kind.to_report(named, status);
    auto message = text.ok() ? speaker.schema.from_json(speaker.type, *text)
                             : Result<std::string>(text.error());
    if (!message.ok()) {
      sent_.refusals.push_back({status.key.kind, status.key.id, message.error().message});
      return;
    }
    ++under_way_;
    const Pairs metadata{{"x-davit-observed", observed_header(status)}};
    calls_.unary(
        speaker.path, std::move(*message),
        [this, status = std::move(status)](Result<std::string> r) mutable {
          --under_way_;
          answered(std::move(status), r);
          pump();
        },
        metadata);
  }

  void answered(Status status, const Result<std::string>& r) {
    const std::string key = status.key.kind + '\n' + status.ns + '\n' + status.name;
    // Krane answers UNKNOWN for an object that it does not know and for a fault of its database.
    // The first must not stop other records, and the second must not lose a status. So each record
    // has a backoff of its own.
    if (!r.ok() && r.error().code == Code::unknown) {
      if (unknown_.size() >= unknown_max) unknown_.clear();
      Backoff& backoff = unknown_.try_emplace(key, retry_).first->second;
      const auto wait = backoff.next(calls_.host().random(), {});
      if (backoff.failures() == told_after) {
        calls_.host().warn(
            "the peer keeps failing at a status, which is sent again and again",
            {{"kind", status.key.kind}, {"id", status.key.id}, {"reason", r.error().message}});
      }
      sent_.later.emplace_back(std::move(status), wait);
      return;
    }
    unknown_.erase(key);
    if (r.ok()) return;
    if (!worth_retrying(r.error().code)) {
      sent_.refusals.push_back({status.key.kind, status.key.id, r.error().message});
      return;
    }
    sent_.failure = r.error();
    sent_.again.push_back(std::move(status));
  }

  Calls& calls_;
  const std::map<std::string, Speaker> kinds_;
  const size_t parallel_;
  const std::string platform_;
  const Backoff::Limits retry_;

  std::vector<Status> waiting_;
  size_t next_ = 0, under_way_ = 0;
  Sent sent_;
  std::map<std::string, Backoff> unknown_;  // of records whose last answer was UNKNOWN
  std::function<void(Sent)> done_;
};

}  // namespace

Result<std::unique_ptr<Sender>> ctrl_v1(Calls& calls, const std::vector<kind::Client>& kinds,
                                        size_t parallel, std::string platform,
                                        Backoff::Limits retry) {
  std::map<std::string, Speaker> speakers;
  for (const auto& kind : kinds) {
    const auto& names = kind.description().ctrl_v1;
    if (!names || names->report.empty()) continue;
    auto schema = kind.schema(calls.host());
    if (!schema.ok()) return schema.error().in("kind \"" + kind.kind() + "\"");
    speakers.emplace(kind.kind(), Speaker{kind, *schema, "ctrl.v1.ClusterService/" + names->report,
                                          names->report_type});
  }
  return std::unique_ptr<Sender>(
      std::make_unique<CtrlV1>(calls, std::move(speakers), parallel, std::move(platform), retry));
}

}  // namespace davit::reporter
