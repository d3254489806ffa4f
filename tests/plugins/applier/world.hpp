// A world for the applier: the real plugins of a simulated cluster and of deployments, loaded as
// the host would, on a clock that stands still until it is moved. The test plays the watcher (it
// offers changes) and the reporter (it keeps what it is told), and can look at and meddle with the
// cluster as anybody could.
//
// Payloads are the JSON of the message: the codec here hands them through.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <davit/sink.hpp>
#include <davit/testing/module.hpp>

#include "front.hpp"
#include "kind_front.hpp"
#include "vault.hpp"

namespace davit::applier::test {

namespace json = boost::json;

struct ApplyOptions {
  int replicas = 1;
  std::string image = "nginx:1";
  int64_t cpu = 100;
  std::string ns = "acme";
  std::string workspace = "ws";
  std::string id = {};  // empty: "d_" and the name
  bool autoscaling = false;
  std::string state = {};  // the record's state word and annotations
  Pairs annotations = {};
  std::map<std::string, std::string> secrets = {};  // ciphertexts by variable
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class World {
 public:
  explicit World(const testing::Config& applier = {}, const testing::Config& deployments = {});
  ~World();

  // --- the watcher's part
  // Of a store in this incarnation, at this version. A snapshot begins with its history, and so
  // does a tail where `before` says what came before.
  void begin(bool snapshot, Incarnation incarnation = 1, Version at = 0, History before = {});
  void apply(const std::string& name, Version version, const ApplyOptions& o = {});
  void garbage(const std::string& name, Version version);
  // Of a peer that knows no incarnations, no history and no ids in what it deletes.
  void begin_ctrl_v1();
  void remove(const std::string& name, Version version, bool with_id = true);
  // The name is empty when another record has it by now.
  void remove_record(const std::string& id, const std::string& name, Version version);
  void hold(const std::string& name, Version version);
  void end(std::optional<uint64_t> live_count, Version at);
  // A bookmark of a stream that has nothing else to say.
  void word(Incarnation incarnation, Version at);
  // A peer without a word for it has been silent for long.
  void quiet();
  // "done", "parked", "held", "abandoned", or "" while it is on its way.
  std::string outcome(Version version) const;

  // --- time
  void wait(std::chrono::milliseconds ms = std::chrono::seconds(2)) { host_.advance(ms); }

  // --- the cluster as anybody sees it
  // Null: not there.
  json::value replica_set(const std::string& name, const std::string& ns = "acme");
  // Names of all ReplicaSets, sorted.
  std::string replica_sets();
  cluster::Response call(const std::string& verb, const std::string& resource,
                         const std::string& ns, const std::string& name, const std::string& body,
                         Pairs query = {});
  int64_t replicas(const std::string& name);
  // From now on the applier's requests are answered with 429 and this Retry-After; 0: no more.
  void throttle(std::chrono::milliseconds retry_after) { front_->retry_after = retry_after; }
  // From now on its watches show nothing, those that it has already apart.
  void blind() { front_->blind = true; }
  void see() { front_->see(); }
  Front& front() { return *front_; }
  KindFront& kind() { return *kind_front_; }
  Vault vault;  // the secrets instance "vault"
  size_t requests() const { return front_->requests; }
  // Makes a namespace, and a ReplicaSet in it with nine replicas, as somebody else could. `labels`
  // and `annotations` are JSON objects; pods get the labels, too.
  void stranger(const std::string& name, const std::string& labels,
                const std::string& annotations = "{}");
  void edit(const std::string& name, const std::string& patch,
            const std::string& manager = "kubectl") {
    const auto r =
        call(DAVIT_VERB_MERGE, "replicasets", "acme", name, patch, {{"fieldManager", manager}});
    ASSERT_EQ(r.code, Code::ok) << r.message;
  }
  std::string uid(const std::string& name) {
    const json::value rs = replica_set(name);
    return rs.is_null() ? "" : std::string(rs.at_pointer("/metadata/uid").as_string());
  }
  // Requests of one verb the applier has made so far ("applies", "deletes", "repairs").
  double count(const char* what) {
    return host_.metric("davit_applier_" + std::string(what) + "_total");
  }

  // --- what was reported
  std::map<std::string, Status> statuses;              // by id
  std::map<std::string, std::string> issues, reasons;  // by name: condition, and why
  std::set<std::string> troubled;                      // ids that have one
  void offer(Status s) { statuses[s.key.id] = std::move(s); }
  void advance(const std::string&, const KindProgress&) {}
  void issue(const std::string&, const Issue& i);

  // What `davit check` says of an applier with these settings; empty: nothing.
  std::string check(testing::Config config = {});
  // Stops the applier and starts another one: it knows nothing but the cluster.
  void restart();
  testing::TestHost& host() { return host_; }

 private:
  void start();
  void stop();
  // Runs what blocks until its strand has answered; here the strands run on this thread.
  void pumped(const std::function<void()>& blocking);
  void offer_change(sink::ChangeType type, const std::string& name, const std::string& ns,
                    Version version, std::string payload, const std::string& id,
                    const ApplyOptions& o = {});

  testing::TestHost host_;  // the applier's
  testing::TestHost cluster_host_, kind_host_, test_host_;
  std::unique_ptr<testing::Instance> cluster_, kind_, applier_;
  cluster::Client client_;
  std::unique_ptr<Front> front_;
  std::unique_ptr<KindFront> kind_front_;
  sink::ChangeStream stream_;
  std::map<Version, sink::Outcome> outcomes_;
  bool closed_ = false;
};

}  // namespace davit::applier::test
