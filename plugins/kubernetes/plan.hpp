// What goes into reconcile and comes out of it, as abi/kind.h describes both. The kinds' reconcile
// begins with read_input and ends with answer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <davit/types.hpp>

#include "labels.hpp"

namespace davit::kubernetes {

struct Input {
  boost::json::value root;

  const boost::json::array& observed() const;
  const boost::json::object* desired() const;  // NULL: the record is deleted
};
Result<Input> read_input(std::string_view text);

// A step of a plan that creates the namespace when it is absent.
boost::json::object ensure_namespace(const std::string& name);
// The same, with the labels of what a kind manages.
boost::json::object ensure_namespace(const std::string& name, const Labels&);
// A step that applies the object. The kind adds "owner" and the like.
boost::json::object apply_step(boost::json::object object);
// An entry of "delete".
boost::json::object removal(std::string_view group, std::string_view version,
                            std::string_view resource, std::string_view ns, std::string_view name);

// Puts "; " between what a status tells people. Nothing is added when `more` is empty.
void add_reason(std::string& message, std::string_view more);
// The status of a record that is being deleted. `gone`: nothing of it is left. `stale`: how many of
// its pods are.
boost::json::object status_of_deleted(bool gone, int64_t ready = 0, int64_t stale = 0,
                                      boost::json::array children = {},
                                      std::string_view reason = {});

// The whole output. `look_again_ms` 0: only when something changes.
std::string answer(boost::json::array apply, boost::json::array remove, boost::json::object status,
                   int64_t look_again_ms = 0);

}  // namespace davit::kubernetes
