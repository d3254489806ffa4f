// What the simulation has to know of objects in the cluster: which ones are ours, and of what.
#pragma once

#include <boost/json.hpp>

#include <davit/cluster.hpp>

#include "history.hpp"

namespace davit::simulation {

namespace json = boost::json;

inline constexpr const char* region = "eu";        // ours
inline constexpr const char* other_region = "ap";  // of rivals: it has our names, too

inline Name of_other_region(Name name) {
  name.region = name.region == region ? other_region : region;
  return name;
}

// The one object of each record that stands for it: it is there as long as the record lives.
struct Kind {
  const char* kind;
  cluster::Resource resource;
};
inline const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"deployment", {"apps", "v1", "replicasets"}},
      {"sentinel", {"apps", "v1", "deployments"}},
      {"cilium_network_policy", {"cilium.io", "v2", "ciliumnetworkpolicies"}}};
  return all;
}
inline const Kind* kind_of(const cluster::Resource& r) {
  for (const auto& k : kinds()) {
    if (k.resource.group == r.group && k.resource.resource == r.resource) return &k;
  }
  return nullptr;
}

inline const Kind* kind_of(const std::string& name) {
  const auto found =
      std::find_if(kinds().begin(), kinds().end(), [&](const Kind& k) { return k.kind == name; });
  return found == kinds().end() ? nullptr : &*found;
}

// All that no other object of the record owns.
inline std::vector<std::pair<cluster::Resource, std::string>> objects_of(const Name& record) {
  std::vector<std::pair<cluster::Resource, std::string>> out;
  for (const auto& k : kinds()) {
    if (k.kind == record.kind) out.emplace_back(k.resource, record.name);
  }
  if (record.kind == "sentinel") {
    out.push_back({{"", "v1", "services"}, record.name + "-gossip-lan"});
    out.push_back({{"cilium.io", "v2", "ciliumnetworkpolicies"}, record.name + "-gossip-lan"});
  }
  return out;
}

// "" where there is none.
inline std::string text_at(const json::value& object, const char* pointer) {
  boost::system::error_code missing;
  const json::value* found = object.find_pointer(pointer, missing);
  return found != nullptr && found->is_string() ? std::string(found->as_string()) : std::string();
}

// As annotations say numbers; 0 where there is none.
inline uint64_t number_at(const json::value& object, const char* pointer) {
  const std::string text = text_at(object, pointer);
  return text.empty() ? 0 : std::stoull(text);
}

// What the applier stamped on it; no version: not ours.
struct Stamp {
  Name name;
  std::string id, region;
  Cursor made_of;
  explicit operator bool() const { return made_of.version != 0; }
};
inline Stamp stamp_of(const json::value& object) {
  Stamp stamp;
  const std::string record = text_at(object, "/metadata/annotations/davit.dev~1record");
  const size_t slash = record.find('/');
  if (slash == std::string::npos) return stamp;
  stamp.name = {text_at(object, "/metadata/labels/davit.dev~1kind"), record.substr(0, slash),
                record.substr(slash + 1)};
  stamp.id = text_at(object, "/metadata/annotations/davit.dev~1id");
  stamp.region = text_at(object, "/metadata/labels/davit.dev~1region");
  stamp.name.region = stamp.region;
  stamp.made_of = {Incarnation(number_at(object, "/metadata/annotations/davit.dev~1incarnation")),
                   Version(number_at(object, "/metadata/annotations/davit.dev~1version"))};
  return stamp;
}

}  // namespace davit::simulation
