// Definition: what a CustomResourceDefinition says of its objects' federation. It stands between
// the watch of the definitions and the syncers. Pure.
#pragma once

#include <optional>

#include <boost/json/object.hpp>

#include "rules.hpp"

namespace davit::federation {

// What the settings say for all definitions.
struct Site {
  std::string robot_name;
  bool map_generation = true;
  bool match_uid = true;
};

struct Definition {
  std::string name;
  std::optional<Rules> rules;  // none: it does not take part
  std::string fault;           // why it does not take part though it should; empty: it should not
};

// A definition without the annotation does not take part. Neither does one that is being deleted.
Definition read_definition(const Site& site, const boost::json::object& definition);

}  // namespace davit::federation
