// What is not as it should be once nothing goes wrong any more, on both sides.
#include "world.hpp"

namespace davit::simulation::federation {

// Whether federation of this robot keeps the object downstream.
bool World::follows(const Kind& kind, size_t robot, const std::string& name) {
  const json::value up = rules_.upstream(kind, robot).now(kind, name);
  return !up.is_null() && !terminating(up) && selects(kind, robot, up);
}

std::string World::difference() {
  for (const Kind& kind : kinds()) {
    for (size_t robot = 0; robot < robots; ++robot) {
      std::set<std::string> names;
      for (const Truth* truth : {&rules_.cloud(), &rules_.of(robot)}) {
        for (const std::string& name : truth->names(kind)) names.insert(name);
      }
      for (const std::string& name : names) {
        const std::string left = difference(kind, robot, name);
        if (!left.empty())
          return kind.resource.resource + " " + name + " of " + robot_name(robot) + " " + left;
      }
    }
  }
  return {};
}

std::string World::difference(const Kind& kind, size_t robot, const std::string& name) {
  const json::value up = rules_.upstream(kind, robot).now(kind, name);
  const json::value down = rules_.downstream(kind, robot).now(kind, name);
  if (follows(kind, robot, name)) {
    return down.is_null() ? "is missing downstream" : missing(kind, robot, up, down);
  }
  if (down.is_null()) return {};
  // What the selector hides is somebody else's, or was hidden before its original went.
  const bool ours = selects(kind, robot, down) && (kind.defined || !made_of(down).empty());
  return ours ? "is there downstream and not upstream" : "";
}

std::string World::missing(const Kind& kind, size_t robot, const json::value& up,
                           const json::value& down) {
  if (terminating(down)) return "is being deleted downstream";
  if (made_of(down) != uid_of(up)) return "is made of another object";
  if (wanted_of(kind, up) != content_of(kind, down))
    return "is " + json::serialize(content_of(kind, down)) + " and not " +
           json::serialize(wanted_of(kind, up));
  const json::value status = value_at(down, "/status");
  if (kind.status == Way::none || status.is_null()) return {};
  if (told(kind, robot, up) != told(kind, robot, down))
    return "has the status " + json::serialize(told(kind, robot, up)) + " upstream and " +
           json::serialize(told(kind, robot, down)) + " downstream";
  if (kind.status == Way::subtree || observed_generation(status) < 0) return {};
  const bool observed =
      kind.status == Way::subresource && observed_generation(status) == generation_of(down);
  const int64_t said = observed_generation(value_at(up, "/status"));
  return said == (observed ? generation_of(up) : 0)
             ? ""
             : "is said to be observed at " + std::to_string(said);
}

}  // namespace davit::simulation::federation
