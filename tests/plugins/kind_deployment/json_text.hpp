// JSON as people read it in golden files: two blanks a level, members in their own order.
#pragma once

#include <string>

#include <boost/json.hpp>

namespace davit::deployment::test {

inline void pretty(const boost::json::value& v, const std::string& indent, std::string& out) {
  const std::string inner = indent + "  ";
  if (const auto* object = v.if_object(); object != nullptr && !object->empty()) {
    const char* before = "{\n";
    for (const auto& member : *object) {
      out += before + inner + boost::json::serialize(member.key()) + ": ";
      pretty(member.value(), inner, out);
      before = ",\n";
    }
    out += "\n" + indent + "}";
  } else if (const auto* array = v.if_array(); array != nullptr && !array->empty()) {
    const char* before = "[\n";
    for (const auto& item : *array) {
      out += before + inner;
      pretty(item, inner, out);
      before = ",\n";
    }
    out += "\n" + indent + "]";
  } else {
    out += boost::json::serialize(v);
  }
}

inline std::string pretty(const boost::json::value& v) {
  std::string out;
  pretty(v, "", out);
  return out + "\n";
}

// The smallest message that is valid, with `replicas`; cases change it.
inline boost::json::object minimal() {
  return {{"k8s_namespace", "acme"},   {"k8s_name", "web"},
          {"workspace_id", "ws_1"},    {"project_id", "proj_1"},
          {"environment_id", "env_1"}, {"deployment_id", "d_1"},
          {"image", "nginx:1.27"},     {"replicas", 1},
          {"cpu_millicores", "250"},   {"memory_mib", "256"}};
}

}  // namespace davit::deployment::test
