// A control plane, an agent and a cluster in one process on a clock that the simulation moves: the
// plugins as they are shipped (storage_sqlite, streamer, recorder, desired; watcher, applier,
// reporter, the three kinds), joined by a shaky link, over a shaky store and a shaky API server.
//
// Server and agent crash: everything that is on its way is lost, and a new one knows nothing but
// the store or the cluster.
#pragma once

#include <davit/testing/module.hpp>

#include "codec/codec.hpp"
#include "link.hpp"
#include "objects.hpp"
#include "shaky_cluster.hpp"
#include "shaky_storage.hpp"
#include "story.hpp"

namespace davit::simulation {

class World : private ShakyCluster::Judge {
 public:
  // `plugins`: other files than the build's, by name.
  using Plugins = std::map<std::string, std::string>;
  World(uint64_t seed, Plugins plugins);
  ~World() override;

  // One moment of an eventful life: something happens, and a little time passes.
  void live();
  // From now on nothing goes wrong. True: within the time the cluster became what is desired.
  bool settle(std::chrono::seconds limit);

  const Story& story() const { return story_; }
  uint64_t faults() const { return fate_.faults(); }
  std::chrono::nanoseconds now() const { return host_.now(); }

 private:
  using Instances = std::vector<std::unique_ptr<testing::Instance>>;
  using Hosts = std::vector<std::unique_ptr<testing::TestHost>>;
  struct Side {  // server or agent
    Hosts hosts;
    Instances instances;
    bool up = false;
  };
  void load(Side& side, const std::string& file, const std::string& name, testing::Config config);
  void start_cluster();
  void start_server();
  void start_agent();
  void stop(Side& side);
  void crash_server();
  void crash_agent();

  // What operators and strangers do.
  void apply_something();
  void delete_something();
  void purge();
  void meddle();
  void ask(const std::string& method, std::string request, const std::string& what);
  json::object spec(const std::string& kind, uint64_t number);

  // What must hold.
  void before(const cluster::Request& q, const std::string& object, bool late) override;
  void before_apply(const Stamp& wanted, const Stamp& there, bool late);
  void before_delete(const cluster::Request& q, const Stamp& there);
  void after(const cluster::Request& q, const cluster::Response& r) override;
  void check_cursor(const Progress& p);
  // "" or what is not as it should be.
  std::string difference();
  std::string difference(const Name& name, const Written& wanted, const json::value& object);
  json::value object(const cluster::Resource& r, const std::string& ns, const std::string& name);
  cluster::Response call(const cluster::Request& q);

  const Plugins plugins_;
  testing::TestHost host_;
  Fate fate_;
  Story story_;
  History history_;
  host::Codec codec_;
  Link link_;
  ShakyStorage storage_;
  Side cluster_side_, kinds_, server_, agent_;
  cluster::Client cluster_;  // as strangers see it
  std::optional<ShakyCluster> shaky_;
  testing::TemporaryDirectory folder_;
  std::chrono::nanoseconds server_up_at_{0}, agent_up_at_{0}, cluster_back_at_{0}, link_back_at_{0};
  uint64_t changes_ = 0;
  std::map<Name, uint64_t> applied_;  // the highest version that the cluster has taken
  json::value stranger_;
};

}  // namespace davit::simulation
