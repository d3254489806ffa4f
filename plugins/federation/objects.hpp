// What the files of Syncer do with the text of an object.
#pragma once

#include <boost/json.hpp>

#include "content.hpp"
#include "kubernetes/json.hpp"

namespace davit::federation {

inline void without_managers(json::object& object) {
  kubernetes::object_made(object, "metadata").erase("managedFields");
}

// An empty object, when it is none.
inline json::value parse_object(std::string_view text) {
  return kubernetes::object_of(text);
}

}  // namespace davit::federation
