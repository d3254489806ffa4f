// Reads the YAML of a kubeconfig member by member. Only the files kubeconfig*.cpp include it.
#pragma once

#include <yaml-cpp/yaml.h>

#include <exception>
#include <string>

namespace davit::cluster_kubernetes::yaml {

// A fault of the file. read_kubeconfig catches it, like the exceptions of yaml-cpp.
struct Fault : std::exception {
  explicit Fault(std::string m) : message(std::move(m)) {}
  std::string message;
};

inline std::string in_quotes(const std::string& s) {
  return "\"" + s + "\"";
}

inline YAML::Node child(const YAML::Node& node, const char* key) {
  return node && node.IsMap() ? node[key] : YAML::Node(YAML::NodeType::Undefined);
}

inline bool is_there(const YAML::Node& node) {
  return node && !node.IsNull();
}

inline std::string text_of(const YAML::Node& node, const char* key, const std::string& where) {
  const YAML::Node v = child(node, key);
  if (!is_there(v)) return {};
  if (!v.IsScalar()) throw Fault(where + ": " + key + " must be a string");
  return v.as<std::string>();
}

inline bool boolean_of(const YAML::Node& node, const char* key, const std::string& where) {
  const std::string text = text_of(node, key, where);
  if (!text.empty() && text != "true" && text != "false")
    throw Fault(where + ": " + key + " must be true or false");
  return text == "true";
}

// The elements of a list; none if it is not there.
inline std::vector<YAML::Node> list_of(const YAML::Node& node, const char* key,
                                       const std::string& where) {
  const YAML::Node v = child(node, key);
  if (!is_there(v)) return {};
  if (!v.IsSequence()) throw Fault(where + ": " + key + " must be a list");
  return {v.begin(), v.end()};
}

inline std::vector<std::string> texts_of(const YAML::Node& node, const char* key,
                                         const std::string& where) {
  std::vector<std::string> out;
  for (const auto& item : list_of(node, key, where)) {
    if (!item.IsScalar()) throw Fault(where + ": " + key + " must be a list of strings");
    out.push_back(item.as<std::string>());
  }
  return out;
}

}  // namespace davit::cluster_kubernetes::yaml
