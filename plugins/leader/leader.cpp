// The plugin: it reads and writes the Lease as Election says, opens the gate when it holds the
// Lease, and ends the process when the Lease is lost.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include <davit/gate.hpp>
#include <davit/kubernetes/names.hpp>
#include <davit/outstanding.hpp>
#include <davit/rights.hpp>
#include <davit/rpc.hpp>

#include "kubernetes/namespaces.hpp"
#include "lease.hpp"

namespace davit::leader {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "davit";
}

// An identity that no other process has. A process that starts again gets a new one, because it
// does not know which requests of its predecessor are still under way.
std::string unique(const std::string& name, uint64_t random) {
  std::array<char, 20> suffix{};
  std::snprintf(suffix.data(), suffix.size(), "_%016llx", static_cast<unsigned long long>(random));
  return (name.empty() ? host_name() : name) + suffix.data();
}

class Leader {
 public:
  using roles = Roles<gate::Role, RightsRole>;

  explicit Leader(Host host) : host_(host), strand_(host.strand()), timer_(strand_) {
    const Settings s(host);
    cluster_name_ = s.string("cluster");
    server_ = s.string("server", "");
    place_.ns = s.string("namespace", "kube-system");
    place_.name = s.string("lease", "");
    if (server_.empty() && place_.name.empty())
      s.reject("server", "is missing: it names the region for the Lease's name; or set lease");
    identity_ = unique(s.string("identity", ""), host.random());
    rules_.duration = s.milliseconds("lease_duration_ms", rules_.duration, 1);
    rules_.renew_deadline = s.milliseconds("renew_deadline_ms", rules_.renew_deadline, 1);
    rules_.retry = s.milliseconds("retry_ms", rules_.retry, 1);
    if (rules_.renew_deadline >= rules_.duration)
      s.reject("renew_deadline_ms", "must be below lease_duration_ms");
    if (rules_.retry >= rules_.renew_deadline)
      s.reject("retry_ms", "must be below renew_deadline_ms");
    if (auto fault = kubernetes::dns_label_fault(place_.ns)) s.reject("namespace", *fault);
    if (auto fault = kubernetes::dns_subdomain_fault(place_.name); fault && !place_.name.empty())
      s.reject("lease", *fault);
    leading_ = host.gauge("davit_leader_leading", "1 while this process is the one that works");
    transitions_ = host.gauge("davit_leader_transitions", "Times the Lease has changed hands");
    failures_total_ =
        host.counter("davit_leader_failures_total", "Requests for the Lease without an answer");
  }

  Result<> wire() {
    auto cluster = cluster::Client::find(host_, cluster_name_);
    if (!cluster.ok()) return cluster.error();
    cluster_ = *cluster;
    if (!server_.empty()) {
      auto channel = rpc::Channel::find(host_, server_);
      if (!channel.ok()) return channel.error();
      if (place_.name.empty()) place_.name = "davit-" + channel->region();
    }
    if (auto fault = kubernetes::dns_subdomain_fault(place_.name))
      return Error{Code::invalid_argument, "the Lease's name " + *fault, "lease"};
    return {};
  }

  // A Role of another namespace does not reach the Lease, and the cluster refuses to ask for it.
  Result<> check(const Op&) {
    const auto allowed = kubernetes::namespaces_of(cluster_);
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), place_.ns) != allowed.end())
      return {};
    std::string all;
    for (const auto& ns : allowed) all += (all.empty() ? "" : ", ") + ns;
    return Error{Code::failed_precondition,
                 "the Lease's namespace \"" + place_.ns + "\" is not among those to which \"" +
                     cluster_name_ + "\" is restricted: set it to one of " + all,
                 "namespace"};
  }

  Result<> start(const Op& op) {
    if (auto placed = check(op); !placed.ok()) return placed;
    election_.emplace(identity_, rules_);
    stand_by("Lease " + place_.text() + " has not been read yet");
    strand_.post([this] { turn(); });
    return {};
  }

  // Called after wire, which completes the Lease's name.
  std::string rights() const { return lease_role(place_); }

  // Gives the Lease back, so that the next holder need not wait for its end. When the time is up,
  // the Lease is kept, because other plugins may still have a write under way.
  Result<> stop(const Op& op) {
    const bool in_time = host_.now().count() < op.deadline_ns();
    strand_.post([this, in_time, ticket = outstanding_.begin()] {
      stopping_ = true;
      keeps_ = !in_time;
      timer_.cancel();
      if (!election_->busy()) release(ticket);
    });
    auto ended = outstanding_.wait(host_, op);
    open(Epoch());
    return ended;
  }

  void wait(gate::Opened opened) {
    Epoch epoch{};
    {
      std::lock_guard lock(mutex_);
      epoch = epoch_;
      if (!epoch) waiting_.push_back(opened);
    }
    if (epoch) opened(epoch);
  }

 private:
  // Takes steps until the next one is to wait. On the strand, like everything below except open.
  void turn() {
    for (;;) {
      const Step step = election_->next(host_.now(), host_.unix_ms());
      switch (step.what) {
        case Step::What::look:
          look();
          break;
        case Step::What::write:
          write(step.lease, step.acquires);
          break;
        case Step::What::wait:
          if (step.until != Time::max())
            timer_.after(std::max(step.until - host_.now(), Time(0)), [this] { turn(); });
          return;
        case Step::What::lost:
          return lose(step);
      }
    }
  }

  void look() {
    cluster::Request q;
    q.verb = DAVIT_VERB_GET;
    q.resource = leases();
    q.ns = place_.ns;
    q.name = place_.name;
    ask(std::move(q), [this](const cluster::Response& r) {
      if (r.code == Code::not_found) return seen(std::nullopt);
      const auto lease = answered(r);
      if (!lease.ok()) return trouble(lease.error());
      seen(*lease);
    });
  }

  void write(const Lease& lease, bool acquires) {
    ask(write_request(place_, lease, acquires, host_.unix_ms()),
        [this, acquires](const cluster::Response& r) {
          // Another process was first. That is no trouble, but what we know of the Lease is
          // outdated.
          if (r.code == Code::aborted || r.code == Code::already_exists)
            return election_->failed(host_.now());
          const auto written = answered(r);
          if (!written.ok()) return trouble(written.error());
          works_again();
          election_->wrote(host_.now(), *written);
          if (acquires) lead(*written);
        });
  }

  // `done` runs on the strand when the answer comes, and then the next turn. After a loss neither
  // runs; during a stop the Lease is given back instead of the turn.
  void ask(cluster::Request q, std::function<void(const cluster::Response&)> done) {
    // Half of renew_deadline, so that after one request that hangs there is time for another.
    q.deadline_ns = (host_.now() + rules_.renew_deadline / 2).count();
    cluster_.request(q, [this, done = std::move(done),
                         ticket = outstanding_.begin()](const cluster::Response& r) {
      strand_.post([this, done, ticket, r] {
        if (lost_) return;
        done(r);
        if (stopping_) return release(ticket);
        turn();
      });
    });
  }

  static Result<Lease> answered(const cluster::Response& r) {
    if (r.code == Code::ok) return parse_lease(r.body);
    return Error{r.code, r.message.empty() ? r.reason : r.message};
  }

  void seen(const std::optional<Lease>& lease) {
    works_again();
    election_->saw(host_.now(), lease);
    if (election_->leading() || !lease) return;
    transitions_.set(static_cast<double>(lease->transitions));
    if (lease->holder.empty() || lease->holder == told_holder_) return;
    told_holder_ = lease->holder;
    host_.info("standing by", {{"lease", place_.text()}, {"leader", lease->holder}});
    stand_by("standing by: \"" + lease->holder + "\" leads");
  }

  void stand_by(const std::string& what) {
    state_ = what;
    leading_.set(0);
    host_.health(DAVIT_HEALTH_SERVING, state_);
  }

  void lead(const Lease& lease) {
    state_ = "leading";
    leading_.set(1);
    transitions_.set(static_cast<double>(lease.transitions));
    host_.health(DAVIT_HEALTH_SERVING, state_);
    host_.info(
        "leading",
        {{"lease", place_.text()}, {"identity", identity_}, {"epoch", to_string(lease.epoch)}});
    if (!stopping_) open(lease.epoch);
  }

  void lose(const Step& step) {
    lost_ = true;
    leading_.set(0);
    const std::string reason = "Lease " + place_.text() + " is lost: " + step.why;
    host_.health(DAVIT_HEALTH_NOT_SERVING, reason);
    host_.shutdown(reason, step.until);
  }

  void release(const Outstanding::Ticket& ticket) {
    const auto lease = election_->release();
    if (!lease || lost_ || keeps_) return;
    leading_.set(0);
    auto q = write_request(place_, *lease, false, host_.unix_ms());
    q.deadline_ns = (host_.now() + rules_.retry).count();
    cluster_.request(q, [this, ticket](const cluster::Response& r) {
      if (r.code == Code::ok) {
        host_.info("the Lease is given back", {{"lease", place_.text()}});
      } else {
        host_.warn("the Lease could not be given back; others wait for its end",
                   {{"lease", place_.text()}, {"reason", r.message}});
      }
    });
  }

  void trouble(const Error& error) {
    election_->failed(host_.now());
    failures_total_.add();
    ++failures_;
    host_.health(DAVIT_HEALTH_DEGRADED, "Lease " + place_.text() + ": " + error.message);
    // Logged when it begins, when it becomes another one, and when it ends.
    if (std::exchange(trouble_, error.code) == error.code) return;
    host_.warn("the Lease cannot be read or written",
               {{"lease", place_.text()}, {"reason", error.message}});
  }

  void works_again() {
    if (failures_ == 0) return;
    host_.info("the Lease can be read and written again",
               {{"failures", std::to_string(failures_)}});
    failures_ = 0;
    trouble_.reset();
    host_.health(DAVIT_HEALTH_SERVING, state_);
  }

  // Opens the gate with this epoch. 0: the gate never opens. Any thread.
  void open(Epoch epoch) {
    std::vector<gate::Opened> waiting;
    {
      std::lock_guard lock(mutex_);
      if (epoch) epoch_ = epoch;
      waiting.swap(waiting_);
    }
    for (const auto& opened : waiting) opened(epoch);
  }

  const Host host_;
  Strand strand_;
  Timer timer_;
  std::string cluster_name_, server_, identity_;
  Place place_;
  Rules rules_;
  cluster::Client cluster_;
  Outstanding outstanding_;

  // On the strand.
  std::optional<Election> election_;
  std::string told_holder_, state_;
  uint64_t failures_ = 0;        // in a row
  std::optional<Code> trouble_;  // that was logged last, of these
  bool stopping_ = false, keeps_ = false, lost_ = false;

  std::mutex mutex_;
  Epoch epoch_{};
  std::vector<gate::Opened> waiting_;

  Metric leading_, transitions_, failures_total_;
};

}  // namespace
}  // namespace davit::leader

DAVIT_PLUGIN(davit::leader::Leader, "leader", DAVIT_PLUGIN_VERSION,
             "elects one of several processes by a Kubernetes Lease")
