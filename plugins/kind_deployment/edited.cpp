#include "edited.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <davit/short_hash.hpp>

#include "made_of.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

struct Differences {
  std::string changed;  // the values found instead of the wanted ones
  std::string missing;  // the wanted values that are absent

  bool none() const { return changed.empty() && missing.empty(); }
};

// The hash keeps so many edits, so that it stays short. One more edit makes all older pods stale.
constexpr int edits_max = 8;

// The API server may leave out such values.
bool is_empty(const json::value& v) {
  if (v.is_object()) return v.get_object().empty();
  if (v.is_array()) return v.get_array().empty();
  return v.is_string() && v.get_string().empty();
}

bool is_list_of_objects(const json::value& v) {
  return v.is_array() && !v.get_array().empty() && v.get_array().front().is_object();
}

// The element of the list that corresponds to `wanted`: the one with the same name if it has a
// name, else the one at the same place.
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

// What others have added is no difference, because the repair leaves it.
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

Differences differences(const json::object& wanted, const ObservedController& there) {
  Differences out;
  for (const auto& [key, value] : wanted) compare(there.pod_template->if_contains(key), value, out);
  return out;
}

bool is_of(std::string_view found, const std::string& hash) {
  const std::string_view own = own_part(found);
  return own == hash || own.starts_with(hash + "-") || own.starts_with(hash + judged_by_looks);
}

// The mark for the next template, when the template in the cluster has another hash: a record that
// goes back to an earlier template may find pods that were made of its edited form.
std::string mark_of_earlier_edits(const ObservedController& there) {
  const std::string_view own = own_part(there.hash);
  const size_t end = std::min(own.find_first_of(std::string("-") + judged_by_looks), own.size());
  const std::string edits(own.substr(end));
  const bool is_folded = edits.starts_with('-') && edits.find(judged_by_looks) == edits.npos;
  if (there.template_owners.empty() && (edits.empty() || is_folded)) return edits;
  return "-" + short_hash(edits + '\n' + there.template_owners);
}

}  // namespace

std::string hash_after_edits(const std::string& hash, const json::object& pod_template,
                             const ObservedController& there) {
  if (there.pod_template == nullptr) return hash;
  Differences found = differences(pod_template, there);
  // The ReplicaSet was another program's. What that program has left out comes with the next
  // change.
  if (there.hash.empty()) return found.changed.empty() ? judged_by_looks + hash : hash;
  if (!is_of(there.hash, hash)) return hash + mark_of_earlier_edits(there);
  // A cluster's admission may change what we write, in our name. That is no edit.
  if (there.template_owners.empty()) found.changed.clear();
  if (found.none()) return there.hash;
  const std::string edit =
      short_hash(found.changed + '\n' + found.missing + '\n' + there.template_owners);
  Differences hidden = differences(not_kept(pod_template), there);
  if (there.template_owners.empty()) hidden.changed.clear();
  const auto before = std::count(there.hash.begin(), there.hash.end(), judged_by_looks);
  if (!hidden.none() || before >= edits_max) return hash + "-" + edit;
  const std::string mark = judged_by_looks + edit;
  return there.hash.ends_with(mark) ? there.hash : there.hash + mark;
}

}  // namespace davit::deployment
