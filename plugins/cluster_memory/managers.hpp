// Reads and updates metadata.managedFields of an object: which manager set which of its fields.
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
// Returns the entry, and creates it if it is missing.
FieldManager& manager_entry(std::vector<FieldManager>& managers, std::string_view name,
                            std::string_view operation, std::string_view subresource);
// The part of an object that a manager can own: without its address and without what the server
// sets.
boost::json::object owned_part(boost::json::object object);
// Updates the owners after a plain write of `object` over `live` (NULL: the object is new). The
// changed fields then belong to the writer only.
void assign_changes(const Object& live, boost::json::object& object, const ResourceType& type,
                    const std::string& manager, const std::string& subresource, int64_t now_ms);

}  // namespace davit::cluster_memory
