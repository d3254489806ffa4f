// A cluster in miniature for the scenarios: what one record desires, what is observed of it, and
// the plan of the last reconcile, which `land` carries out. Commands are lines of text; README of
// the kind lists them.
#pragma once

#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "message.hpp"
#include "reconcile.hpp"

namespace davit::deployment::test {

class World {
 public:
  // Carries one command out and returns what it prints.
  std::string run(const std::string& line);

 private:
  void desire(std::istringstream& words);
  void set_site(std::istringstream& words);
  void pod(std::istringstream& words);
  void edit_template(std::istringstream& words);
  void seen(std::istringstream& words);
  void strip();
  void land();
  std::string reconcile();
  boost::json::object& replica_set() { return observed_.at("ReplicaSet"); }
  void land_controller(const std::string& kind, boost::json::object& object) const;

  Site site_;
  int64_t now_s_ = 0;  // 0: the input has no time
  std::optional<boost::json::object> desired_;
  std::map<std::string, boost::json::object>
      observed_;  // "ReplicaSet", "HorizontalPodAutoscaler", "Pod/web-a"
  boost::json::object plan_;
};

}  // namespace davit::deployment::test
