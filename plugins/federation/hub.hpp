// Hub: has a syncer for each resource that takes part, and for each namespace if the settings name
// some. It watches the CustomResourceDefinitions of one side, so resources come, change and go
// while it runs. A change that no rule depends on restarts nothing. All members are called on the
// strand, start() and stop() apart.
#pragma once

#include <map>

#include "claimant.hpp"
#include "pairing.hpp"
#include "syncer.hpp"

namespace davit::federation {

class Hub : public std::enable_shared_from_this<Hub> {
 public:
  Hub(Host host, Configuration configuration, cluster::Client upstream, cluster::Client downstream,
      Outstanding& outstanding);
  void start();  // [any]
  void stop();   // [any] the outstanding calls end soon afterwards

  // What it knows. `done` runs on the strand. [any]
  void report(Question question, std::function<void(const Result<Report>&)> done);
  // Lets the deletes go that are held of this resource. `done` gets their number. [any]
  void release(std::string resource, std::function<void(const Result<size_t>&)> done);
  // Before start(): everything is decided and nothing written.
  void rehearse() { around_.rehearses = true; }

 private:
  using Key = std::pair<std::string, std::string>;  // name of the resource, namespace

  void paired();
  void claim();
  Report look(const Question& question) const;
  void watch_definitions();
  void definition_event(int32_t type, std::string_view object);
  void take(const std::string& name);
  void begin(const Rules& rules);
  void end(const std::string& name);
  void show_health();

  const Configuration configuration_;
  Surroundings around_;
  std::shared_ptr<Pairing> pairing_;
  std::shared_ptr<Claimant> claimant_;  // NULL: no name is claimed
  bool begun_ = false;
  std::shared_ptr<controller::Watched> definitions_watch_;
  controller::ObjectCache definitions_;
  std::map<std::string, std::string> faults_;  // of definitions, by name
  std::map<std::string, Rules> running_;       // by name
  std::map<Key, std::shared_ptr<Syncer>> syncers_;
  std::string health_ = "?";
  bool stopped_ = false;
  Metric resources_, faults_gauge_;
};

}  // namespace davit::federation
