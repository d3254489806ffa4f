// What a Cluster that is in the management cluster says of itself, and the status of its record
// that follows from it. Its controller writes that: plugins/cluster_controller/README.md. Pure.
#pragma once

#include <string>

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "record.hpp"

namespace davit::cluster_record {

// Of a record that wants the Cluster. `hash`: of what is rendered of it. `there` NULL: it is not.
json::object status_of(const Record&, const std::string& hash, const json::value* there);

// Of a record that is deleted. `there` NULL: nothing is left of it.
json::object status_of_removal(const json::value* there);

}  // namespace davit::cluster_record
