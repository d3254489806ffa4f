// A control plane, its agents and a cluster in one process on a clock that the simulation moves:
// the plugins as they are shipped (storage_sqlite, streamer, recorder, desired; leader, watcher,
// applier, reporter, the three kinds), joined by a shaky link, over a shaky store and a shaky API
// server.
//
// Server and agents crash: everything that is on its way is lost, and a new one knows nothing but
// the store or the cluster.
#pragma once

#include "codec/codec.hpp"
#include "commit_queue.hpp"
#include "link.hpp"
#include "objects.hpp"
#include "scene.hpp"
#include "shaky_cluster.hpp"
#include "shaky_storage.hpp"
#include "side.hpp"
#include "story.hpp"

namespace davit::simulation {

class World : private ShakyCluster::Judge, private ShakyStorage::Witness {
 public:
  // No scene: the seed says which.
  World(uint64_t seed, std::optional<Scene> scene, Plugins plugins);
  ~World() override;

  // One moment of an eventful life: something happens, and a little time passes.
  void live();
  // Later ones mend what an earlier trouble has broken: for some this one is the last, and whoever
  // runs afterwards goes on running.
  void may_be_last_trouble();
  // From now on nothing goes wrong. True: within the time all became as it is desired.
  bool settle(std::chrono::seconds limit);
  // After that: a few changes, each of which has to be in the cluster within seconds. True: they
  // were, and rollouts left pods serving.
  bool quiet();
  // After that: an agent loses sight of something for long. True: the server's conditions said so
  // in time, and no longer once it saw again.
  bool blind();
  // After that: a restored store has every record and has lost the latest statuses (scene
  // `restored`). True: the agent told them again.
  bool lose_statuses();
  // After that: what nobody changes any more comes to rest. True: nothing was written to the
  // cluster, and agents said little.
  bool rest();
  // And then: an agent comes back that has missed starts of the server, and what another one did
  // meanwhile (scene `rivals`). It works at once, and the other one is gone.
  void come_back();

  const Story& story() const { return story_; }
  uint64_t faults() const { return fate_.faults(); }
  std::chrono::nanoseconds now() const { return host_.now(); }

 private:
  using Time = std::chrono::nanoseconds;
  struct Agent {
    std::string name;
    ShakyCluster cluster;
    Side side{};
    Time up_at{0}, started_at{0};
    Time started_before{0};  // its process before this one
    Time clock_ahead{0};     // of everybody else's
    uint64_t process = 0;    // each life of it is another one
    bool over = false;       // is to be taken down
    struct Heard {
      Version version{};
      Incarnation incarnation{};
      Time since{0};
    };
    std::map<std::string, Heard> heard{};  // its cursors in this life, by kind
    Version long_dead{};                   // what was dead at this version no snapshot of it names
    std::set<Name> pruned{};               // of that
    std::set<Name> tombstones{};           // that the store had when it started
    std::vector<Issue> issues{};           // that it told last
    std::string region = simulation::region;
  };
  struct Past {  // what a restored store does not know any more
    History history;
    Version restored_head{};  // where it had begun itself
  };
  struct Backup {
    std::string file;
    History history;
  };

  void load(Side& side, const std::string& file, const std::string& name, testing::Config config);
  void start_cluster();
  void open_store();
  void reopen_store();
  void start_server();
  void crash_server();
  void restart_server(Time within);
  void pass(Time by);
  void plan(Time in, std::function<void()> what);
  void lose_cluster(Time lasts);
  void hide_something();
  void cut_link(bool for_long);

  // The agents' processes (agents.cpp).
  void start_agent(Agent& agent);
  void crash_agent(Agent& agent);
  void cut_off(Agent& agent);
  void lease_lost(Agent& agent, const std::string& reason, Time deadline);
  void jump_clock(Agent& agent);
  Agent* agent_of(std::string_view instance);
  Agent& some_agent() { return *agents_[fate_.below(agents_.size())]; }
  void second_comes_or_goes();
  void cut_off_one();
  void crawl();
  bool rivals() const { return scene_ == Scene::rivals; }
  size_t working(const std::string& where) const;
  void own_services();

  // What operators and strangers do (people.cpp).
  void apply_something();
  void apply(const std::string& kind, uint64_t number, const std::string& where = region);
  void remove(const std::string& kind, uint64_t number, const std::string& where);
  std::string some_region(const std::string& kind);
  void delete_something();
  void repeat_something();
  void clear_out();
  void delete_of_a_kind();
  void purge();
  void meddle();
  void keep_or_put_back(const Kind& kind, const Name& name);
  void restart_pod(const Name& name);
  void back_up();
  void restore();
  void restore_from(const std::optional<Backup>& backup);
  void contest_name();
  void leave_contested_name();
  void remove_orphans();
  void ask(const std::string& method, std::string request, const std::string& what);
  void check_answer(const std::string& answer, const std::string& what);
  json::object spec(const std::string& kind, uint64_t number);
  uint64_t some_number(const std::string& kind);
  static Name name_of(const std::string& kind, uint64_t number);
  static const Name& contested_name();

  // What must hold the whole time (rules.cpp).
  void asked(const cluster::Request& q, const std::string& agent) override;
  void before(const cluster::Request& q, const std::string& object,
              const ShakyCluster::Asking& by) override;
  void after(const cluster::Request& q, const cluster::Response& r) override;
  void heard(const Progress& p) override;
  void purged() override;
  void stored(const Status& s, bool now) override;
  bool survived(const Stamp& stamp) const;
  void check_hold(const Agent& agent, const Name& name);
  void check_share(Agent& agent, const Name& name);
  void check_lease(const json::value& lease);
  void check_worker(const Agent& agent);
  bool knows_this_store(const ShakyCluster::Asking& by, const std::string& kind);
  void before_apply(const Stamp& wanted, const Stamp& there, const ShakyCluster::Asking& by);
  void before_delete(const cluster::Request& q, const Stamp& there, const ShakyCluster::Asking& by);
  bool has_tombstone(const Name& name, const std::vector<Written>& written);
  // `store` counts those that were lost; their number means the present one.
  bool may_go(const Stamp& there, size_t store) const;
  Version head_without(const Stamp& there, size_t store) const;
  void check_cursor(const KindProgress& kind, const std::string& where, bool stamped);
  void note_write(const cluster::Request& q);

  // What must hold while nothing goes wrong (quiet.cpp).
  struct Place {  // before a change
    Version head{};
    int64_t pods = 0;
  };
  void expect_in_time(const Name& name, const Place& before, Time within);
  void check_serving(const Name& name, int64_t least);
  void await_pods(const Name& name, int64_t serving);
  bool is_contested(const Name& name) const;
  bool waits_for_resync(const std::string& kind) const;
  int64_t serving_since(const Name& name, const Place& before) const;
  std::string object_difference(const Name& name);
  int64_t wanted_pods(const Name& name) const;
  bool wanted_by_both(const Name& name) const;
  static int64_t pods_of(const Name& name, const Written& w);
  // That have been ready for so long.
  int64_t ready_pods(const Name& name, Time at_least) const;
  bool any_clock_jumped() const;
  void watch_pods();
  void see_pod(int32_t type, std::string_view object);
  void check_what_was_said_of_pods();
  static bool is_ready(const json::value& pod);
  static std::string pod_image(const json::value& pod);

  // That an agent says what it cannot see (blind.cpp).
  void hide(Agent& agent, const std::string& resource, bool refused);
  void fall_behind(Agent& agent);
  size_t said_to_be_blind(const Agent& agent, const std::string& resource, const std::string& why);
  bool await_blindness(const Agent& agent, const std::string& resource, const std::string& why,
                       size_t kinds, Time within);

  // What is not as it should be, once all is quiet; "": nothing (difference.cpp).
  std::string difference();
  std::string difference(const Name& name, const Written& wanted, const json::value& object);
  std::string cursor_difference() const;
  std::string issue_difference() const;
  std::string rival_difference(const Name& name) const;
  bool stands_for_other(const Name& name, const json::value& object) const;
  std::string status_difference();
  std::string status_difference(const Name& name, const Written& wanted, const Status& status);
  std::string predecessor_difference(const Name& name, const std::vector<Written>& writes,
                                     const std::map<Key, Status>& statuses) const;
  json::value object(const cluster::Resource& r, const std::string& ns, const std::string& name);
  json::array list(const cluster::Resource& r, const std::string& ns);
  cluster::Response call(const cluster::Request& q);

  // The streamer's: a snapshot may begin where one did so long before.
  static constexpr std::chrono::seconds snapshots_share_begin{12};
  static constexpr uint64_t names_of_a_kind = 6;  // names of each kind: few, so that they meet
  // The settings of the same names: the server's, the deployments', and the agents'.
  static constexpr std::chrono::seconds agent_live{10};
  static constexpr std::chrono::seconds min_ready{2};
  static constexpr std::chrono::seconds blind_after{8};
  static constexpr uint64_t prune_always_allowed = 2, prune_share_max_percent = 50;

  static World* current_;  // for the services, whose slots carry no pointer to it
  const Plugins plugins_;
  testing::TestHost host_;
  const Strand strand_ = host_.host().strand();
  Fate fate_;
  const Scene scene_;
  Story story_;
  History history_;
  host::Codec codec_;
  const davit_clock* clock_ = nullptr;  // everybody's
  const davit_lookup* lookup_ = nullptr;
  Link link_;
  CommitQueue commits_;
  ShakyStorage storage_;
  Side cluster_side_, kinds_, store_, server_;
  cluster::Client cluster_;  // as strangers see it
  std::vector<std::unique_ptr<Agent>> agents_;
  testing::TemporaryDirectory folder_;
  std::multimap<Time, std::function<void()>> agenda_;  // what is bound to happen

  uint64_t changes_ = 0, meddled_ = 0;
  Time people_only_until_{0};
  bool no_more_troubles_ = false;
  int hurry_ = 0;        // moments in which people are quick
  std::string cleared_;  // a kind that nobody works on until ...
  Time cleared_until_{0};
  std::map<Time, Version> heads_;  // of the store, as long as snapshots may begin there
  std::string last_apply_;         // the request
  std::map<Name, std::set<std::pair<std::string, Cursor>>> applied_;  // ids, and what was made of
  std::set<std::pair<Name, std::string>> named_;       // ids: an agent has them out of this store
  std::map<Name, uint64_t> changed_by_people_;         // how often, past the store
  std::map<Key, std::pair<Epoch, uint64_t>> stored_;   // epoch and sequence of statuses
  std::map<Name, json::value> kept_;                   // objects that somebody has saved
  std::map<std::string, std::vector<Time>> put_back_;  // when such were put back, by kind
  struct ReadyPod {
    Time since;
    std::string image;
  };
  cluster::Watch pods_watch_;
  std::map<std::string, ReadyPod> ready_;                     // by "namespace/name"
  std::vector<std::pair<Key, std::string>> said_none_ready_;  // statuses, since the last look
  json::value stranger_;
  bool contested_ = true;            // another region's object stands under contested_name
  uint64_t writes_ = 0, words_ = 0;  // to the cluster, and of agents
  std::string last_write_;
  uint64_t processes_ = 0;
  uint64_t worker_ = 0;  // the process that changed the cluster last
  Epoch lease_epoch_{};
  std::set<uint64_t> superseded_;  // those that did before it
  std::optional<Backup> backup_;
  std::vector<Past> lost_;
  Version restored_head_{};               // of the store that was restored last
  std::set<Incarnation> before_restore_;  // its incarnations then
};

}  // namespace davit::simulation
