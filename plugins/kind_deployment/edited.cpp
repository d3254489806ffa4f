#include "edited.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/short_hash.hpp>

namespace davit::deployment {
namespace json = boost::json;
namespace {

struct Differences {
  std::string changed;  // what stands there instead
  std::string missing;  // what does not
};

// Such values the API server may leave out.
bool is_empty(const json::value& v) {
  if (v.is_object()) return v.get_object().empty();
  if (v.is_array()) return v.get_array().empty();
  return v.is_string() && v.get_string().empty();
}

bool is_list_of_objects(const json::value& v) {
  return v.is_array() && !v.get_array().empty() && v.get_array().front().is_object();
}

// The element of a list that is the same one: by its name if it has one, else by its place.
const json::value* same_element(const json::array& list, const json::value& wanted, size_t place) {
  const auto* name = wanted.is_object() ? wanted.get_object().if_contains("name") : nullptr;
  if (name == nullptr) return place < list.size() ? &list[place] : nullptr;
  const auto found = std::find_if(list.begin(), list.end(), [&](const json::value& element) {
    const auto* o = element.if_object();
    const auto* other = o == nullptr ? nullptr : o->if_contains("name");
    return other != nullptr && *other == *name;
  });
  return found == list.end() ? nullptr : &*found;
}

// What others added is no difference: the repair leaves it.
void compare(const json::value* there, const json::value& wanted, Differences& out) {
  if (there == nullptr) {
    if (!is_empty(wanted)) out.missing += json::serialize(wanted);
  } else if (wanted.is_object() && there->is_object()) {
    for (const auto& [key, value] : wanted.get_object())
      compare(there->get_object().if_contains(key), value, out);
  } else if (is_list_of_objects(wanted) && there->is_array()) {
    const auto& list = wanted.get_array();
    for (size_t i = 0; i < list.size(); ++i)
      compare(same_element(there->get_array(), list[i], i), list[i], out);
  } else if (*there != wanted) {
    out.changed += json::serialize(*there);
  }
}

}  // namespace

std::string hash_after_edits(const std::string& hash, const json::object& pod_template,
                             const ReplicaSet& there) {
  const bool of_this = there.hash == hash || there.hash.starts_with(hash + "-");
  if (!of_this || there.pod_template == nullptr) return hash;
  Differences differences;
  for (const auto& [key, value] : pod_template)
    compare(there.pod_template->if_contains(key), value, differences);
  // A cluster's admission may change what we write, in our name: that is no edit.
  if (there.template_owners.empty()) differences.changed.clear();
  if (differences.changed.empty() && differences.missing.empty()) return there.hash;
  return hash + "-" +
         short_hash(differences.changed + '\n' + differences.missing + '\n' +
                    there.template_owners);
}

}  // namespace davit::deployment
