#include "world.hpp"

namespace davit::simulation::federation {

namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::Config;
using testing::TestHost;

constexpr seconds catches_up{10};

}  // namespace

World::End::End(World& w, Rules::Writer who, const std::string& name)
    : world(w),
      by(who),
      cluster(w.host_, w.fate_, who.cloud ? w.cloud_ : w.robots_.back()->cluster, *this, name) {
  w.host_.add_role(name, DAVIT_CLUSTER, reinterpret_cast<davit_instance*>(&cluster),
                   cluster::Role::vtable<ShakyCluster>());
}

void World::End::asked(const cluster::Request& q, const std::string&) {
  world.rules_.asked(by, q);
  Robot& robot = *world.robots_[by.robot];
  if (robot.dies_in > 0 && --robot.dies_in == 0) world.dies(robot);
}

void World::End::after(const cluster::Request& q, const cluster::Response& r) {
  world.rules_.carried_out(by, q, r);
}

World::World(uint64_t seed, Plugins plugins)
    : plugins_(std::move(plugins)),
      host_("world", {}, TestHost::Time::manual),
      strand_(host_.host().strand()),
      fate_(seed),
      story_([this] { return host_.now(); }),
      rules_(story_, [this] { return host_.now(); }) {
  host_.seed(seed);
  story_.tell("scene: federation");
  start_clusters();
  for (const auto& robot : robots_) start(*robot);
}

World::~World() {
  fate_.make_peace();
  for (const auto& robot : robots_) crash(*robot);
  rules_.cloud().close();
  for (size_t i = 0; i < robots; ++i) rules_.of(i).close();
  host_.run();
  clusters_.stop(host_);
}

void World::start_clusters() {
  const auto cluster = [this](const std::string& name, std::optional<size_t> robot) {
    clusters_.load(host_, plugins_, "cluster_memory", name, {});
    const cluster::Client client(clusters_.ref(DAVIT_CLUSTER));
    Truth& truth = robot ? rules_.of(*robot) : rules_.cloud();
    truth.watch(
        client, [this] { return host_.now(); },
        [this, robot](const Kind& kind, const std::string& object, uint64_t version) {
          rules_.changed(robot, kind, object, version);
        });
    host_.run();
    return client;
  };
  cloud_ = cluster("cloud", std::nullopt);
  for (size_t i = 0; i < robots; ++i) {
    robots_.push_back(std::unique_ptr<Robot>(new Robot{robot_name(i)}));
    Robot& robot = *robots_.back();
    robot.cluster = cluster(robot.name, i);
    robot.ends[0] = std::make_unique<End>(*this, Rules::Writer{i, true}, "cloud-" + robot.name);
    robot.ends[1] = std::make_unique<End>(*this, Rules::Writer{i, false}, "robot-" + robot.name);
    for (const Kind& kind : kinds()) define(robot, kind, true);
  }
}

void World::start(Robot& robot) {
  story_.tell("federation of " + robot.name + " starts");
  robot.over = false;
  ++robot.process_of;
  for (const auto& end : robot.ends) {
    end->cluster.asker_back();
    rules_.stirred(end->by.robot);
  }
  const Config resource{
      {"version", "v1"}, {"resource", "configmaps"}, {"selector", "to=edge"}, {"fields", {"data"}}};
  robot.process.load(host_, plugins_, "federation", "federation-" + robot.name,
                     {{"upstream", "cloud-" + robot.name},
                      {"downstream", "robot-" + robot.name},
                      {"robot_name", robot.name},
                      {"resource", std::vector<Config>{resource}}});
}

// What it has asked for may still be carried out, and it asks for nothing more.
void World::dies(Robot& robot) {
  if (!robot.process.up || std::exchange(robot.over, true)) return;
  later(strand_, Time(0), [&robot, process = robot.process_of] {
    if (robot.process_of != process) return;
    for (const auto& end : robot.ends) end->cluster.asker_gone();
  });
}

void World::crash(Robot& robot) {
  if (!robot.process.up) return;
  story_.tell("federation of " + robot.name + " crashes");
  robot.dies_in = 0;
  for (const auto& end : robot.ends) end->cluster.asker_gone();
  host_.run();
  robot.process.stop(host_);
}

// Time passes; who has ended is taken down, and starts again in its time.
void World::pass(Time by) {
  host_.advance(by);
  for (const auto& robot : robots_) {
    if (robot->over && robot->process.up) {
      crash(*robot);
      robot->up_at = now() + milliseconds(fate_.below(15'000));
    }
    for (const auto& end : robot->ends) {
      if (end->away_until != Time(0) && now() >= end->away_until) come_back(*end);
    }
    if (!robot->process.up && now() >= robot->up_at) start(*robot);
  }
}

void World::live() {
  const auto what = fate_.below(1000);
  if (what < 300) {
    work_upstream();
  } else if (what < 560) {
    controllers_work();
  } else if (what < 660) {
    meddle_downstream();
  } else if (what < 680) {
    meddle_with_status();
  } else if (what < 700) {
    put_own_object();
  } else if (what < 705) {
    fight();
  } else if (what < 715) {
    change_definition();
  } else if (what < 790 && fate_.strikes(1)) {
    trouble(what - 715);
  }
  if (fate_.chance(0.004)) return pass(minutes(1 + fate_.below(180)));
  if (fate_.chance(0.05)) return pass(milliseconds(fate_.below(30'000)));
  pass(milliseconds(1 + fate_.below(fate_.chance(0.5) ? 20 : 400)));
}

void World::trouble(uint64_t what) {
  Robot& robot = some_robot();
  End& end = *robot.ends[fate_.below(2)];
  rules_.stirred(end.by.robot);
  rules_.sees_late(end.by.robot, now() + catches_up);
  const std::string where = (end.by.cloud ? "the cloud of " : "the cluster of ") + robot.name;
  if (what < 15) {
    story_.tell("the watches of " + where + " begin anew");
    end.cluster.break_watches();
    all_are_busy(some_kind());
  } else if (what < 30) {
    story_.tell("the watches of " + where + " are interrupted");
    end.cluster.interrupt_watches("connection reset");
    all_are_busy(some_kind());
  } else if (what < 45) {
    robot.dies_in = 1 + fate_.below(4);
  } else if (what < 60) {
    lose(end, fate_.chance(0.2) ? Time(minutes(fate_.below(300)))
                                : Time(milliseconds(fate_.below(30'000))));
  } else {
    const Kind& kind = some_kind();
    const std::string resource =
        fate_.chance(0.2) ? "customresourcedefinitions" : kind.resource.resource;
    static constexpr std::array<int32_t, 3> how{DAVIT_WATCH_TROUBLE, DAVIT_WATCH_REFUSED,
                                                DAVIT_WATCH_SYNCED};
    const int32_t type = how[fate_.below(resource.starts_with("custom") ? 2 : 3)];
    story_.tell(where + " does not show " + resource + ", by " + std::to_string(type));
    end.cluster.hide(resource, type, "hidden");
    if (end.away_until == Time(0)) end.away_until = now() + milliseconds(fate_.below(60'000));
    all_are_busy(kind);
  }
}

void World::lose(End& end, Time lasts) {
  story_.tell((end.by.cloud ? "the cloud of " : "the cluster of ") + robot_name(end.by.robot) +
              " goes away");
  end.cluster.set_away(true);
  end.cluster.interrupt_watches("connection refused");
  end.away_until = std::max(end.away_until, now() + lasts);
  rules_.sees_late(end.by.robot, end.away_until + catches_up);
}

void World::come_back(End& end) {
  story_.tell((end.by.cloud ? "the cloud of " : "the cluster of ") + robot_name(end.by.robot) +
              " is there again");
  rules_.stirred(end.by.robot);
  rules_.sees_late(end.by.robot, now() + catches_up);
  end.away_until = Time(0);
  end.cluster.set_away(false);
  end.cluster.show_all();
}

bool World::settle(seconds limit) {
  fate_.make_peace();
  story_.tell("peace");
  for (const auto& robot : robots_) {
    for (const auto& end : robot->ends) come_back(*end);
    robot->dies_in = 0;
    robot->up_at = now();
    for (const Kind& kind : kinds()) {
      if (robot->withdrawn.contains(&kind)) define(*robot, kind, true);
    }
  }
  make_room();
  std::string left;
  for (const auto until = now() + limit; now() < until; pass(seconds(5))) {
    if (!story_.broken().empty()) return false;
    left = each_is_observed() ? difference() : "a controller has work";
    if (left.empty()) return true;
  }
  story_.fault("not as desired after " + std::to_string(limit.count()) + " s: " + left);
  return false;
}

// Each change is on the other side within seconds, and so is the last of several that come while
// the first is on its way.
bool World::quiet() {
  for (size_t i = 0; i < 20; ++i) {
    const Kind& kind = kinds()[i % kinds().size()];
    const size_t robot = fate_.below(robots);
    const std::string name = some_name(kind, robot);
    const Truth& up = rules_.upstream(kind, robot);
    if (up.now(kind, name).is_null()) {
      make(kind, robot, name);
      if (fate_.chance(0.5)) pass(seconds(5));
    }
    for (uint64_t more = fate_.below(5); more > 0; --more) {
      fate_.chance(0.5) ? report(kind, robot, name, true)
                        : (void)merge(up, kind, name, {{kind.field, some_spec(kind)}});
      pass(std::chrono::microseconds(fate_.below(4'000)));
    }
    if (fate_.chance(0.5)) {
      release(up, kind, name);
      remove(up, kind, name);
    }
    pass(seconds(5));
    (void)each_is_observed();
    pass(seconds(5));
    if (const auto left = difference(); !left.empty()) story_.fault("after five seconds " + left);
    if (!story_.broken().empty()) return false;
  }
  return true;
}

bool World::withdraw() {
  for (const Kind& kind : kinds()) {
    if (!kind.defined) continue;
    const size_t robot = fate_.below(robots);
    const std::string name = some_name(kind, robot);
    if (rules_.upstream(kind, robot).now(kind, name).is_null()) make(kind, robot, name);
    pass(seconds(10));
    (void)each_is_observed();
    define(*robots_[robot], kind, false);
    pass(seconds(5));
    const auto before = rules_.downstream(kind, robot).all(kind, name).size();
    merge(rules_.upstream(kind, robot), kind, name, {{kind.field, some_spec(kind)}});
    pass(minutes(1));
    const auto& down = rules_.downstream(kind, robot).all(kind, name);
    if (follows(kind, robot, name) && down.size() != before) {
      story_.fault(kind.resource.resource + " " + name + " is written, and takes no part");
      return false;
    }
    define(*robots_[robot], kind, true);
    pass(seconds(10));
    (void)each_is_observed();
    pass(seconds(10));
    if (const auto left = difference(); !left.empty()) story_.fault("it takes part again: " + left);
    if (!story_.broken().empty()) return false;
  }
  return true;
}

bool World::rest() {
  const uint64_t before = rules_.requests();
  pass(std::chrono::hours(1));
  if (rules_.requests() != before)
    story_.fault(std::to_string(rules_.requests() - before) + " requests at rest");
  return story_.broken().empty();
}

}  // namespace davit::simulation::federation
