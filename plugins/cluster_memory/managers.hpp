// metadata.managedFields of an object: who set which of its fields, and how that changes with a
// write.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "resources.hpp"
#include "store.hpp"

namespace davit::cluster_memory {

// One entry of metadata.managedFields.
struct FieldManager {
  std::string name, operation, subresource;
  boost::json::object set;
  boost::json::value time;
  bool is(std::string_view n, std::string_view op, std::string_view sub) const {
    return name == n && operation == op && subresource == sub;
  }
};

std::vector<FieldManager> managers_of(const boost::json::object& object);
void store_managers(boost::json::object& object, const std::vector<FieldManager>& managers);
// The entry, made when it is missing.
FieldManager& manager_entry(std::vector<FieldManager>& managers, std::string_view name,
                            std::string_view operation, std::string_view subresource);
// What of an object a manager can own: not its address, and not what the server fills in.
boost::json::object owned_part(boost::json::object object);
// After a plain write of `object` over `live` (NULL: it is new): what changed belongs to whoever
// wrote it, and to nobody else any more.
void assign_changes(const Object& live, boost::json::object& object, const ResourceType& type,
                    const std::string& manager, const std::string& subresource, int64_t now_ms);

}  // namespace davit::cluster_memory
