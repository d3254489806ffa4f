// The Sender for a ctrl.v1.ClusterService. It sends the kind's own report for each status, several
// at once, and a heartbeat in place of progress. Each kind makes its reports of a batch on its own
// pool; one that takes long does not delay those of others. The header x-davit-observed, which
// Krane ignores, carries what the report has no field for.
#include <ctrl/v1/cluster.pb.h>

#include <algorithm>
#include <deque>
#include <map>

#include "sender.hpp"

namespace davit::reporter {
namespace {

// After so many answers UNKNOWN, or failures of a kind, in a row a warning is logged.
constexpr uint32_t told_after = 3;
// How long a batch waits for the reports of a kind, and how long a kind is asked for them at once.
constexpr std::chrono::milliseconds kind_patience{1000}, asked_at_once{250};
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
  return "version=" + to_string(s.observed_version) + ";desired=" + std::to_string(s.desired) +
         ";updated=" + std::to_string(s.updated) + ";ready=" + std::to_string(s.ready) +
         ";stale=" + std::to_string(s.stale) + ";health=" + s.health + (s.gone ? ";gone=1" : "") +
         ";epoch=" + to_string(s.epoch) + ";sequence=" + std::to_string(s.sequence) +
         (can_stand_in_a_header(s.key.id) ? ";id=" + s.key.id : "");
}

// A status, and the message that its kind has made of it.
struct Report {
  Status status;
  Result<std::string> message;
  // The Reporter has the status again, or a newer one: it does not get this one back.
  bool spare = false;
};

// Asks one kind for its reports, one job at a time.
struct Desk {
  Speaker speaker;
  std::shared_ptr<const std::vector<Status>> asked{};  // set while a job runs
  bool awaited = false;                                // by the batch
  Backoff delay{};                                     // while the kind cannot answer
  // What it made when its batch had ended, by key. It is sent when the record comes again: a kind
  // that takes longer than a batch would never be heard otherwise.
  std::map<std::string, Report> late{};
};

// Asks the kind on its pool, for a while. The reports are those of the first statuses.
std::vector<Report> make_reports(const Host& host, const Speaker& speaker,
                                 const std::vector<Status>& statuses) {
  std::vector<Report> out;
  const auto until = host.now() + asked_at_once;
  for (const Status& s : statuses) {
    if (!out.empty() && host.now() >= until) break;
    auto text = speaker.kind.to_report({s.key.id, s.ns, s.name}, s);
    out.push_back({s, text.ok() ? speaker.schema.from_json(speaker.type, *text) : text});
  }
  return out;
}

std::string key_of_report(const Status& s) {
  return s.key.kind + '\n' + s.ns + '\n' + s.name;
}

class CtrlV1 : public Sender {
 public:
  CtrlV1(Calls& calls, const std::map<std::string, Speaker>& kinds, size_t parallel,
         std::string platform, Backoff::Limits retry)
      : calls_(calls),
        parallel_(parallel),
        platform_(std::move(platform)),
        retry_(retry),
        patience_(calls.strand()) {
    for (const auto& [kind, speaker] : kinds)
      desks_.emplace(kind, Desk{.speaker = speaker, .delay = Backoff(retry)});
  }

  void send(std::vector<Status> statuses, std::function<void(Sent)> done) override {
    sent_ = {};
    done_ = std::move(done);
    std::map<std::string, std::vector<Status>> questions;
    for (Status& status : statuses) {
      const auto desk = desks_.find(status.key.kind);
      if (desk == desks_.end()) continue;  // this wire has no report for the kind
      if (status.name.empty()) continue;   // another record has the name, and would get the report
      sort_in(desk->second, std::move(status), questions);
    }
    for (auto& [kind, question] : questions) ask(desks_.at(kind), std::move(question));
    if (!questions.empty()) patience_.after(kind_patience, [this] { go_on_without(); });
    pump();
  }

  void progress(const Progress& p, std::function<void(Result<Epoch>)> done) override {
    ::ctrl::v1::HeartbeatRequest request;
    request.set_region(p.region);
    request.set_platform(platform_);
    calls_.unary("ctrl.v1.ClusterService/Heartbeat", request.SerializeAsString(),
                 [done = std::move(done)](Result<std::string> r) {
                   // This wire has no epochs.
                   done(r.ok() ? Result<Epoch>(Epoch()) : Result<Epoch>(r.error()));
                 });
  }

  bool wants_progress() const override { return false; }
  void halt() override {
    halted_ = true;
    patience_.cancel();
  }
  bool idle() const override {
    return std::all_of(desks_.begin(), desks_.end(),
                       [](const auto& entry) { return entry.second.asked == nullptr; });
  }

 private:
  // Gives the status to its kind, unless the kind has made a report of the record meanwhile, or is
  // still being asked.
  void sort_in(Desk& desk, Status status, std::map<std::string, std::vector<Status>>& questions) {
    if (auto late = desk.late.extract(key_of_report(status))) {
      Report& report = late.mapped();
      report.spare = report.status.sequence != status.sequence;
      report.status.epoch = status.epoch;
      if (report.spare) sent_.later.emplace_back(std::move(status), kind_patience);
      ready_.push_back(std::move(report));
    } else if (desk.asked) {
      sent_.later.emplace_back(std::move(status), kind_patience);
    } else {
      questions[status.key.kind].push_back(std::move(status));
    }
  }

  void ask(Desk& desk, std::vector<Status> statuses) {
    desk.asked = std::make_shared<const std::vector<Status>>(std::move(statuses));
    desk.awaited = true;
    calls_.host().blocking(desk.speaker.kind.instance(), [this, &desk, host = calls_.host(),
                                                          strand = calls_.strand(),
                                                          asked = desk.asked] {
      auto made = std::make_shared<std::vector<Report>>(make_reports(host, desk.speaker, *asked));
      strand.post([this, &desk, made] { told(desk, std::move(*made)); });
    });
  }

  void told(Desk& desk, std::vector<Report> reports) {
    const auto asked = std::exchange(desk.asked, nullptr);
    if (std::exchange(desk.awaited, false)) {
      take(desk, std::move(reports), *asked);
      return pump();
    }
    for (Report& report : reports) {
      if (!report.message.ok()) continue;  // the status comes again, and the kind is asked again
      std::string key = key_of_report(report.status);
      desk.late.insert_or_assign(std::move(key), std::move(report));
    }
  }

  void take(Desk& desk, std::vector<Report> reports, const std::vector<Status>& asked) {
    std::optional<std::chrono::milliseconds> wait;
    for (size_t i = reports.size(); i < asked.size(); ++i)
      sent_.later.emplace_back(asked[i], std::chrono::milliseconds(0));  // there was no time
    for (Report& report : reports) {
      if (report.message.ok()) {
        ready_.push_back(std::move(report));
        continue;
      }
      const Error& why = report.message.error();
      if (!retryable(why.code)) {
        const Key& key = report.status.key;
        sent_.refusals.push_back({key.kind, key.id, why.message});
        continue;
      }
      if (!wait) wait = desk.delay.next(calls_.host().random(), why.retry_after);
      if (wait && desk.delay.failures() == told_after) tell_of(report.status, why.message);
      sent_.later.emplace_back(std::move(report.status), *wait);
    }
    if (!wait) desk.delay.reset();
  }

  // The batch does not wait for kinds that take long.
  void go_on_without() {
    for (auto& [kind, desk] : desks_) {
      if (!std::exchange(desk.awaited, false)) continue;
      for (const Status& status : *desk.asked) sent_.later.emplace_back(status, kind_patience);
    }
    pump();
  }

  bool awaits() const {
    return std::any_of(desks_.begin(), desks_.end(),
                       [](const auto& entry) { return entry.second.awaited; });
  }

  void pump() {
    while (under_way_ < parallel_ && !ready_.empty()) {
      Report report = std::move(ready_.front());
      ready_.pop_front();
      if (!sent_.failure && !halted_) {
        call(std::move(report));
      } else if (!report.spare) {
        sent_.again.push_back(std::move(report.status));  // the peer fails: the rest waits
      }
    }
    if (under_way_ > 0 || !ready_.empty() || awaits() || !done_) return;
    patience_.cancel();
    auto done = std::move(done_);
    done_ = nullptr;
    done(std::move(sent_));
  }

  void call(Report report) {
    ++under_way_;
    const Pairs metadata{{"x-davit-observed", observed_header(report.status)}};
    const std::string& path = desks_.at(report.status.key.kind).speaker.path;
    calls_.unary(
        path, std::move(*report.message),
        [this, status = std::move(report.status),
         spare = report.spare](const Result<std::string>& r) mutable {
          --under_way_;
          answered(std::move(status), spare, r);
          pump();
        },
        metadata);
  }

  // Once while it lasts.
  void tell_of(const Status& status, const std::string& why) {
    calls_.host().warn("statuses wait for their kind",
                       {{"kind", status.key.kind}, {"id", status.key.id}, {"reason", why}});
  }

  void answered(Status status, bool spare, const Result<std::string>& r) {
    if (spare) {
      if (!r.ok() && worth_retrying(r.error().code)) sent_.failure = r.error();
      return;
    }
    const std::string key = key_of_report(status);
    // Krane answers UNKNOWN for an object that it does not know and for a fault of its database.
    // The first must not stop other records, and the second must not lose a status. So each record
    // has a backoff of its own.
    if (!r.ok() && r.error().code == Code::unknown) {
      if (unknown_.size() >= unknown_max) unknown_.clear();
      Backoff& backoff = unknown_.try_emplace(key, retry_).first->second;
      const auto wait = backoff.next(calls_.host().random(), {});
      if (backoff.failures() == told_after) {
        calls_.host().warn(
            "the peer keeps failing at a status; it is sent again until the peer takes it",
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
  const size_t parallel_;
  const std::string platform_;
  const Backoff::Limits retry_;
  std::map<std::string, Desk> desks_;  // by kind

  std::deque<Report> ready_;
  size_t under_way_ = 0;
  Sent sent_;
  std::map<std::string, Backoff> unknown_;  // of records whose last answer was UNKNOWN
  std::function<void(Sent)> done_;
  Timer patience_;
  bool halted_ = false;
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
      std::make_unique<CtrlV1>(calls, speakers, parallel, std::move(platform), retry));
}

}  // namespace davit::reporter
