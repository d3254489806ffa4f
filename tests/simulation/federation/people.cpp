// What people do in the clusters, and the controllers of the robots.
#include "world.hpp"

namespace davit::simulation::federation {

namespace {

constexpr const char* finalizer = "people.dev/hold";
constexpr size_t names_of_a_kind = 3;

json::value labelled(const Kind& kind, const std::string& robot) {
  json::object labels{{"who", "people"}};
  if (!kind.defined) labels["to"] = "edge";
  if (kind.filtered) labels[robot_label] = robot;
  return labels;
}

}  // namespace

const cluster::Client& World::client(const Truth& of) const {
  for (size_t i = 0; i < robots; ++i) {
    if (&of == &const_cast<World*>(this)->rules_.of(i)) return robots_[i]->cluster;
  }
  return cloud_;
}

cluster::Response World::call(const Truth& in, const Kind& kind, const std::string& verb,
                              const std::string& name, const json::value& body,
                              const std::string& subresource) {
  cluster::Request q;
  q.verb = verb;
  q.resource = kind.resource;
  q.ns = "default";
  q.name = name;
  q.subresource = subresource;
  q.query = {{"fieldManager", "people"}};
  if (!body.is_null()) q.body = json::serialize(body);
  std::optional<cluster::Response> answer;
  client(in).request(q, [&](cluster::Response r) { answer = std::move(r); });
  host_.run();
  return answer.value_or(cluster::Response{});
}

bool World::merge(const Truth& in, const Kind& kind, const std::string& name,
                  const json::value& patch) {
  const bool done = call(in, kind, DAVIT_VERB_MERGE, name, patch).code == Code::ok;
  if (done) {
    story_.tell("somebody edits " + kind.resource.resource + " " + name +
                (&in == &rules_.cloud() ? " in the cloud: " : " on a robot: ") +
                json::serialize(patch));
  }
  return done;
}

void World::remove(const Truth& in, const Kind& kind, const std::string& name) {
  if (call(in, kind, DAVIT_VERB_DELETE, name, {}).code == Code::ok)
    story_.tell("somebody deletes " + kind.resource.resource + " " + name +
                (&in == &rules_.cloud() ? " in the cloud" : " on a robot"));
}

// The definition as the cluster of this robot has it, and the cloud.
void World::define(Robot& robot, const Kind& kind, bool takes_part) {
  if (!kind.defined) return;
  robot.withdrawn.erase(&kind);
  if (!takes_part) robot.withdrawn.insert(&kind);
  json::object annotations{{"change", std::to_string(++changes_)}};
  const std::string prefix = "cr-syncer.cloudrobotics.com/";
  if (takes_part) {
    annotations[prefix + "spec-source"] = kind.swapped ? "robot" : "cloud";
    if (kind.filtered) annotations[prefix + "filter-by-robot-name"] = "True";
    if (kind.status == Way::subtree) annotations[prefix + "status-subtree"] = robot.name;
  } else if (fate_.chance(0.3)) {
    annotations[prefix + "spec-source"] = "nowhere";
  }
  json::object version{{"name", "v1"}, {"storage", true}};
  if (kind.status != Way::whole) version["subresources"] = {{"status", json::object{}}};
  const json::object body{{"apiVersion", "apiextensions.k8s.io/v1"},
                          {"kind", "CustomResourceDefinition"},
                          {"metadata", {{"name", kind.definition()}, {"annotations", annotations}}},
                          {"spec",
                           {{"group", kind.resource.group},
                            {"scope", "Namespaced"},
                            {"names", {{"plural", kind.resource.resource}, {"kind", kind.kind}}},
                            {"versions", json::array{version}}}}};
  cluster::Request q;
  q.verb = DAVIT_VERB_APPLY;
  q.resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
  q.name = kind.definition();
  q.query = {{"fieldManager", "people"}, {"force", "true"}};
  q.body = json::serialize(body);
  for (const cluster::Client* in : {&cloud_, &robot.cluster}) {
    in->request(q, [](const cluster::Response& r) {
      if (r.code != Code::ok) throw std::runtime_error("a definition is refused: " + r.message);
    });
  }
  host_.run();
  for (size_t i = 0; i < robots; ++i) rules_.stirred(i);
  story_.tell(kind.definition() + (takes_part ? " takes part on " : " takes no part on ") +
              robot.name);
}

std::string World::some_name(const Kind& kind, size_t robot) {
  const std::string name(1, static_cast<char>('a' + fate_.below(names_of_a_kind)));
  return kind.swapped ? robot_name(robot) + "-" + name : name;
}

// Mostly one that has never been.
json::value World::some_spec(const Kind& kind) {
  const std::string x =
      fate_.chance(0.1) ? std::to_string(fate_.below(2)) : "x" + std::to_string(++changes_);
  return kind.field == "data" ? json::value{{"x", x}}
                              : json::value{{"x", x}, {"list", json::array{1, x}}};
}

void World::make(const Kind& kind, size_t robot, const std::string& name) {
  json::object meta{
      {"name", name}, {"namespace", "default"}, {"labels", labelled(kind, robot_name(robot))}};
  if (fate_.chance(0.3)) meta["annotations"] = {{"note", std::to_string(++changes_)}};
  if (fate_.chance(0.1)) meta["finalizers"] = json::array{finalizer};
  const std::string group = kind.resource.group.empty() ? "" : kind.resource.group + "/";
  const json::value body = json::object{{"apiVersion", group + kind.resource.version},
                                        {"kind", kind.kind},
                                        {"metadata", meta},
                                        {kind.field, some_spec(kind)}};
  const auto r = call(rules_.upstream(kind, robot), kind, DAVIT_VERB_CREATE, "", body);
  if (r.code == Code::ok)
    story_.tell("somebody makes " + kind.resource.resource + " " + name + " for " +
                robot_name(robot));
}

void World::work_upstream() {
  const Kind& kind = some_kind();
  const size_t robot = fate_.below(robots);
  const std::string name = some_name(kind, robot);
  if (rules_.upstream(kind, robot).now(kind, name).is_null()) return make(kind, robot, name);
  change_upstream(kind, robot, name);
}

void World::change_upstream(const Kind& kind, size_t robot, const std::string& name) {
  const Truth& up = rules_.upstream(kind, robot);
  const auto what = fate_.below(100);
  if (what < 45) {
    merge(up, kind, name, {{kind.field, some_spec(kind)}});
  } else if (what < 60) {
    remove(up, kind, name);
  } else if (what < 75) {  // before anybody has seen that it had gone
    release(up, kind, name);
    remove(up, kind, name);
    make(kind, kind.swapped || fate_.chance(0.7) ? robot : fate_.below(robots), name);
  } else if (what < 85) {
    const json::value note =
        fate_.chance(0.3) ? json::value() : json::value(std::to_string(++changes_));
    merge(up, kind, name, {{"metadata", {{"annotations", {{"note", note}}}}}});
  } else if (what < 95) {
    const std::string to = kind.swapped && fate_.chance(0.5)
                               ? "elsewhere"
                               : robot_name(kind.swapped ? robot : fate_.below(robots));
    const std::string label = kind.defined ? robot_label : "to";
    const std::string value = kind.defined ? to : fate_.chance(0.7) ? "edge" : "nobody";
    merge(up, kind, name, {{"metadata", {{"labels", {{label, value}}}}}});
  } else {
    release(up, kind, name);
  }
}

void World::release(const Truth& in, const Kind& kind, const std::string& name) {
  const json::value object = in.now(kind, name);
  if (!object.is_null() && !value_at(object, "/metadata/finalizers").is_null())
    merge(in, kind, name, {{"metadata", {{"finalizers", nullptr}}}});
}

void World::meddle_downstream() {
  const Kind& kind = some_kind();
  const size_t robot = fate_.below(robots);
  const std::string name = some_name(kind, robot);
  const Truth& down = rules_.downstream(kind, robot);
  const json::value there = down.now(kind, name);
  if (there.is_null() || (made_of(there).empty() && !selects(kind, robot, there))) return;
  const auto what = fate_.below(100);
  const bool known = !made_of(there).empty(), shown = selects(kind, robot, there);
  if (what < 25) {
    merge(down, kind, name, {{kind.field, some_spec(kind)}});
  } else if (what < 45) {
    remove(down, kind, name);
  } else if (what < 55) {
    merge(down, kind, name, {{"metadata", {{"annotations", {{"note", "meddled"}}}}}});
  } else if (what < 70 && known) {
    const std::string label = kind.defined ? robot_label : "to";
    merge(down, kind, name, {{"metadata", {{"labels", {{label, "meddled"}}}}}});
  } else if (what < 75 && shown && kind.defined) {  // as an object that another syncer has made
    merge(down, kind, name, {{"metadata", {{"annotations", nullptr}}}});
  } else if (what < 85 && !terminating(there)) {
    merge(down, kind, name, {{"metadata", {{"finalizers", json::array{finalizer}}}}});
  } else {
    release(down, kind, name);
  }
}

// Somebody changes the same object again and again, and its controller takes it for serious.
void World::fight() {
  const Kind& kind = some_kind();
  const size_t robot = fate_.below(robots);
  const std::string name = some_name(kind, robot);
  const Truth& down = rules_.downstream(kind, robot);
  for (uint64_t rounds = 2 + fate_.below(8); rounds > 0; --rounds) {
    const json::value there = down.now(kind, name);
    if (there.is_null() || made_of(there).empty()) return;
    merge(down, kind, name, {{kind.field, {{"x", "fought"}}}});
    pass(std::chrono::milliseconds(1 + fate_.below(20)));
    report(kind, robot, name, false);
    pass(std::chrono::milliseconds(1 + fate_.below(1'500)));
  }
}

// Within milliseconds, while a watch is troubled.
void World::all_are_busy(const Kind& kind) {
  for (uint64_t i = 4 + fate_.below(8); i > 0; --i) {
    const size_t robot = fate_.below(robots);
    const std::string name = some_name(kind, robot);
    if (fate_.chance(0.6)) {
      report(kind, robot, name, true);
    } else if (!rules_.upstream(kind, robot).now(kind, name).is_null()) {
      change_upstream(kind, robot, name);
    }
    pass(std::chrono::microseconds(fate_.below(3'000)));
  }
}

// Somebody, or a second robot with the same name, writes a status upstream.
void World::meddle_with_status() {
  const Kind& kind = some_kind();
  const size_t robot = fate_.below(robots);
  if (kind.status == Way::none) return;
  const std::string name = some_name(kind, robot);
  json::object said{{"n", "meddled " + std::to_string(++changes_)}};
  const bool part = kind.status == Way::subtree;
  const json::value status = part ? json::value{{robot_name(robot), said}} : json::value(said);
  const auto r = call(rules_.upstream(kind, robot), kind, DAVIT_VERB_MERGE, name,
                      {{"status", status}}, kind.status == Way::whole ? "" : "status");
  if (r.code == Code::ok)
    story_.tell("somebody writes a status of " + kind.resource.resource + " " + name);
}

// Objects that nobody has federated. Some have a name that federation wants, some look as if it had
// been theirs.
void World::put_own_object() {
  const Kind& kind = some_kind();
  const size_t robot = fate_.below(robots);
  if (kind.swapped) return;
  const std::string name =
      fate_.chance(0.6) ? some_name(kind, robot) : "own-" + std::to_string(fate_.below(2));
  const bool orphan = fate_.chance(0.4);
  json::object meta{{"name", name}, {"namespace", "default"}};
  if (orphan) meta["labels"] = labelled(kind, robot_name(robot));
  const std::string group = kind.resource.group.empty() ? "" : kind.resource.group + "/";
  const json::value body = json::object{{"apiVersion", group + kind.resource.version},
                                        {"kind", kind.kind},
                                        {"metadata", meta},
                                        {kind.field, some_spec(kind)}};
  const auto r = call(rules_.downstream(kind, robot), kind, DAVIT_VERB_CREATE, "", body);
  if (r.code == Code::ok)
    story_.tell("somebody makes an own object " + kind.resource.resource + " " + name + " on " +
                robot_name(robot) + (orphan ? ", with labels" : ""));
}

void World::change_definition() {
  const Kind& kind = some_kind();
  Robot& robot = some_robot();
  if (!kind.defined) return;
  define(robot, kind, robot.withdrawn.contains(&kind) || fate_.chance(0.5));
}

// The controller of a robot's object says what it has seen of it, perhaps a while ago.
void World::report(const Kind& kind, size_t robot, const std::string& name, bool late) {
  const Truth& down = rules_.downstream(kind, robot);
  const json::value object = down.now(kind, name);
  if (object.is_null() || kind.status == Way::none) return;
  int64_t observed = generation_of(object);
  if (late && fate_.chance(0.3)) observed = std::max<int64_t>(observed - 1, 1);
  json::object said{{"n", std::to_string(++changes_)}};
  json::object status{{"observedGeneration", observed}};
  if (kind.status != Way::subtree) {
    status["n"] = said["n"];
  } else if (late && fate_.chance(0.2)) {
    status[robot_name(robot)] = nullptr;  // it has nothing more to say
  } else {
    status[robot_name(robot)] = said;
  }
  const auto r = call(down, kind, DAVIT_VERB_MERGE, name, {{"status", status}},
                      kind.status == Way::whole ? "" : "status");
  if (r.code == Code::ok)
    story_.tell("the controller of " + robot_name(robot) + " writes a status of " +
                kind.resource.resource + " " + name + ": " + json::serialize(status));
}

void World::controllers_work() {
  const Kind& kind = some_kind();
  const size_t robot = fate_.below(robots);
  report(kind, robot, some_name(kind, robot), true);
}

// Each controller has seen what there is now. Without a status subresource a write of the status is
// a new generation, so that has an end nowhere.
bool World::each_is_observed() {
  bool all = true;
  for (const Kind& kind : kinds()) {
    if (kind.status != Way::subresource && kind.status != Way::subtree) continue;
    for (size_t robot = 0; robot < robots; ++robot) {
      const Truth& down = rules_.downstream(kind, robot);
      for (const std::string& name : down.names(kind)) {
        const json::value object = down.now(kind, name);
        if (!selects(kind, robot, object) ||
            observed_generation(value_at(object, "/status")) == generation_of(object))
          continue;
        all = false;
        report(kind, robot, name, false);
      }
    }
  }
  return all;
}

// Finalizers downstream go, and people's objects whose names are wanted.
void World::make_room() {
  for (const Kind& kind : kinds()) {
    for (size_t robot = 0; robot < robots; ++robot) {
      const Truth& down = rules_.downstream(kind, robot);
      for (const std::string& name : down.names(kind)) {
        const json::value object = down.now(kind, name);
        release(down, kind, name);
        const bool own =
            made_of(object).empty() && (!kind.defined || !selects(kind, robot, object));
        if (own && !kind.swapped && !name.starts_with("own-")) remove(down, kind, name);
      }
    }
  }
}

}  // namespace davit::simulation::federation
