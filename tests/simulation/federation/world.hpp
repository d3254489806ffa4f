// A cloud and two robots: three simulated clusters, and for each robot the federation plugin as it
// is shipped, which reaches both of its clusters through shaky API servers. People and robots'
// controllers work in the clusters, and processes crash.
#pragma once

#include "../fate.hpp"
#include "../shaky_cluster.hpp"
#include "../side.hpp"
#include "rules.hpp"

namespace davit::simulation::federation {

class World {
 public:
  World(uint64_t seed, Plugins plugins);
  ~World();

  // As those of the other World.
  void live();
  bool settle(std::chrono::seconds limit);
  bool quiet();
  // After that: a definition is withdrawn. True: its objects were left alone, and followed again
  // when it was back.
  bool withdraw();
  // After that: for an hour nobody does anything. True: there was no request.
  bool rest();

  const Story& story() const { return story_; }
  uint64_t faults() const { return fate_.faults(); }
  Time now() const { return host_.now(); }

 private:
  // An API server as one robot's federation reaches it.
  struct End : ShakyCluster::Judge {
    End(World& w, Rules::Writer who, const std::string& name);
    void asked(const cluster::Request& q, const std::string& agent) override;
    void before(const cluster::Request&, const std::string&, const ShakyCluster::Asking&) override {
    }
    void after(const cluster::Request& q, const cluster::Response& r) override;

    World& world;
    const Rules::Writer by;
    ShakyCluster cluster;
    Time away_until{0};  // 0: it is there
  };
  struct Robot {
    std::string name;
    cluster::Client cluster{};
    std::unique_ptr<End> ends[2]{};  // the cloud, the robot
    Side process{};
    Time up_at{0};
    bool over = false;        // is to be taken down
    uint64_t dies_in = 0;     // requests; 0: it does not
    uint64_t process_of = 0;  // each life of it is another one
    std::set<const Kind*> withdrawn{};
  };

  void start_clusters();
  void start(Robot& robot);
  void crash(Robot& robot);
  void dies(Robot& robot);  // at this very moment
  void pass(Time by);
  void trouble(uint64_t what);
  void lose(End& end, Time lasts);
  void come_back(End& end);
  Robot& some_robot() { return *robots_[fate_.below(robots_.size())]; }
  const Kind& some_kind() { return kinds()[fate_.below(kinds().size())]; }

  // People (people.cpp).
  const cluster::Client& client(const Truth& of) const;
  cluster::Response call(const Truth& in, const Kind& kind, const std::string& verb,
                         const std::string& name, const json::value& body,
                         const std::string& subresource = "");
  bool merge(const Truth& in, const Kind& kind, const std::string& name, const json::value& patch);
  void remove(const Truth& in, const Kind& kind, const std::string& name);
  void define(Robot& robot, const Kind& kind, bool takes_part);
  std::string some_name(const Kind& kind, size_t robot);
  json::value some_spec(const Kind& kind);
  void make(const Kind& kind, size_t robot, const std::string& name);
  void change_upstream(const Kind& kind, size_t robot, const std::string& name);
  void work_upstream();
  void meddle_downstream();
  void meddle_with_status();
  void fight();
  void all_are_busy(const Kind& kind);
  void put_own_object();
  void change_definition();
  void controllers_work();
  void report(const Kind& kind, size_t robot, const std::string& name, bool late);
  void release(const Truth& in, const Kind& kind, const std::string& name);
  void make_room();
  bool each_is_observed();

  // Judgement (difference.cpp).
  std::string difference();
  std::string difference(const Kind& kind, size_t robot, const std::string& name);
  std::string missing(const Kind& kind, size_t robot, const json::value& up,
                      const json::value& down);
  bool follows(const Kind& kind, size_t robot, const std::string& name);

  const Plugins plugins_;
  testing::TestHost host_;
  Strand strand_;
  Fate fate_;
  Story story_;
  Rules rules_;
  Side clusters_;
  cluster::Client cloud_;
  std::vector<std::unique_ptr<Robot>> robots_;
  std::map<std::pair<size_t, std::string>, json::value> own_;  // people's own objects on robots
  uint64_t changes_ = 0;
};

}  // namespace davit::simulation::federation
