// Review: how the definitions of both sides differ.
#include <algorithm>

#include "objects.hpp"
#include "review.hpp"

namespace davit::federation {
namespace {

using kubernetes::object_in;
using kubernetes::text_in;

bool says(const json::object& version, const char* key) {
  const json::value* value = kubernetes::value_in(&version, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

struct Side {
  std::string scope, storage;
  bool serves = false, has_status = false;
};

Side read_side(const Rules& rules, const json::object& definition) {
  Side out;
  const json::object* spec = object_in(definition, "spec");
  out.scope = text_in(spec, "scope");
  const json::array* versions = kubernetes::array_in(spec, "versions");
  if (versions == nullptr) return out;
  for (const json::value& v : *versions) {
    const json::object* version = v.if_object();
    if (version == nullptr) continue;
    if (says(*version, "storage")) out.storage = text_in(version, "name");
    if (text_in(version, "name") != rules.resource.version) continue;
    out.serves = says(*version, "served");
    out.has_status = object_in(object_in(version, "subresources"), "status") != nullptr;
  }
  return out;
}

}  // namespace

std::vector<Finding> compare_definitions(const Rules& rules, const json::object* upstream,
                                         const json::object* downstream) {
  std::vector<Finding> out;
  const auto find = [&](Severity severity, std::string text) {
    out.push_back({severity, rules.name, std::move(text)});
  };
  const char* const names[] = {"upstream", "downstream"};
  const json::object* const definitions[] = {upstream, downstream};
  Side sides[2];
  for (size_t i = 0; i < 2; ++i) {
    if (definitions[i] == nullptr) {
      find(Severity::fault, std::string("the definition is missing ") + names[i]);
      return out;
    }
    sides[i] = read_side(rules, *definitions[i]);
    if (!sides[i].serves) {
      find(Severity::fault,
           "version " + rules.resource.version + ", which travels, is not served " + names[i]);
    }
  }
  const auto& [up, down] = sides;
  if (up.scope != down.scope)
    find(Severity::fault,
         "its scope is " + up.scope + " upstream and " + down.scope + " downstream");
  if (up.storage != down.storage && up.serves && down.serves) {
    find(Severity::note, "the storage version is " + up.storage + " upstream and " + down.storage +
                             " downstream: " + rules.resource.version + " travels");
  }
  if (rules.status == StatusWrite::none || !up.serves || !down.serves) return out;
  const bool subresource = rules.status == StatusWrite::subresource;
  if (up.has_status != subresource) {
    find(Severity::fault, subresource
                              ? "there is no status subresource upstream, so no status can go up"
                              : "there is a status subresource upstream alone, so no status can go "
                                "up");
  }
  return out;
}

}  // namespace davit::federation
