#include "reconcile.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/plan.hpp"
#include "marks.hpp"
#include "status.hpp"

namespace davit::manifest {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// An object that the cluster has.
struct There {
  const json::value* object;
  const AllowedKind* as;
  std::string ns, name;
  bool marked;  // as one of the record; without its own mark it is somebody's copy
};
using Key = std::tuple<std::string, std::string, std::string>;  // group, kind, name

Key key_of(const AllowedKind& as, const std::string& name) {
  return {as.group, as.kind, name};
}

std::string named(const AllowedKind& as, const std::string& name) {
  return as.kind + "/" + name;
}

// What the cluster shows, by type and name. An object that the manifest names counts in any case:
// the next apply gives it its marks back.
std::map<Key, There> look_at(const json::array& observed, const Site& site) {
  std::map<Key, There> out;
  for (const json::value& object : observed) {
    const auto* as = site.find(group_of(text_at(object, "/apiVersion")), text_at(object, "/kind"));
    const std::string ns(text_at(object, "/metadata/namespace"));
    const std::string name(text_at(object, "/metadata/name"));
    if (as != nullptr && !ns.empty() && !name.empty())
      out.insert_or_assign(key_of(*as, name),
                           There{&object, as, ns, name, marks::record_of(object).has_value()});
  }
  return out;
}

// The objects that go, in the opposite order of that in which they came. `left` counts those that
// go already, too.
json::array removals(const std::map<Key, There>& there, const std::map<Key, const Wanted*>& wanted,
                     int64_t& left) {
  std::vector<const There*> gone;
  for (const auto& [key, t] : there) {
    if (!wanted.contains(key) && t.marked) gone.push_back(&t);
  }
  left = static_cast<int64_t>(gone.size());
  std::stable_sort(gone.begin(), gone.end(), [](const There* a, const There* b) {
    return rank_of(a->as->group, a->as->kind) > rank_of(b->as->group, b->as->kind);
  });
  json::array out;
  for (const There* t : gone) {
    if (!is_terminating(*t->object))
      out.push_back(removal(t->as->group, t->as->version, t->as->resource, t->ns, t->name));
  }
  return out;
}

json::object step_of(const Manifest& m, const Wanted& w, const std::string& hash) {
  json::object object = w.object;
  marks::add(object.at("metadata").get_object(), m, w, hash);
  json::object step = apply_step(std::move(object));
  if (!w.secrets.empty()) step["secrets"] = w.secrets;
  return step;
}

// Of a Secret only its metadata is shown, and which of its values are as they were applied.
bool has_its_values(const json::value& secret, const Wanted& w) {
  const auto* values = object_at(secret, "/values");
  const auto* data = object_in(w.object, "data");
  if (values == nullptr || data == nullptr) return true;
  return std::all_of(data->begin(), data->end(),
                     [&](const auto& member) { return values->contains(member.key()); });
}

Health health_of(const Wanted& w, const std::string& hash, const json::value* there,
                 const Site& site) {
  if (there == nullptr) return {State::missing, "is not there yet"};
  const auto* annotations = object_at(*there, "/metadata/annotations");
  const bool same = text_in(annotations, marks::hash) == hash;
  if (!is_terminating(*there) && (!same || !has_its_values(*there, w)))
    return {State::outdated, "is not yet as the record has it"};
  return judge(*there, site);
}

std::string keep(const Manifest& m, const std::map<Key, There>& there, const Site& site) {
  json::array apply;
  apply.push_back(ensure_namespace(m.ns));
  std::map<Key, const Wanted*> wanted;
  std::vector<Judged> judged;
  for (const Wanted& w : m.objects) {
    const Key key = key_of(*w.as, w.name);
    wanted[key] = &w;
    const auto found = there.find(key);
    const bool is_there = found != there.end() && found->second.ns == m.ns;
    const std::string hash = marks::hash_mark(w);
    judged.push_back({named(*w.as, w.name),
                      health_of(w, hash, is_there ? found->second.object : nullptr, site)});
    apply.push_back(step_of(m, w, hash));
  }
  int64_t stale = 0;
  json::array remove = removals(there, wanted, stale);
  return answer(std::move(apply), std::move(remove), status_of(std::move(judged), stale));
}

std::string clear(const std::map<Key, There>& there, const Site& site) {
  int64_t left = 0, ready = 0;
  json::array remove = removals(there, {}, left);
  std::string first;
  for (const auto& [key, t] : there) {
    if (!t.marked) continue;
    if (is_fine(judge(*t.object, site).state)) ++ready;
    if (first.empty() && is_terminating(*t.object)) first = named(*t.as, t.name);
  }
  std::string reason = left == 0 ? "" : std::to_string(left) + " objects are left";
  if (!first.empty()) reason += ", such as " + first;
  return answer({}, std::move(remove), status_of_deleted(left == 0, ready, left, {}, reason));
}

}  // namespace

Result<std::string> reconcile(std::string_view input, const Site& site) {
  const auto in = read_input(input);
  if (!in.ok()) return in.error();
  const auto there = look_at(in->observed(), site);
  if (in->desired() == nullptr) return clear(there, site);
  const auto manifest = read_manifest(*in->desired(), site);
  if (!manifest.ok()) return manifest.error();
  return keep(*manifest, there, site);
}

Result<Named> attribute(std::string_view object) {
  const auto value = parse_object(object, "the object");
  if (!value.ok()) return value.error();
  auto record = marks::record_of(*value);
  if (!record) return Error{Code::not_found, "no object of a manifest"};
  return std::move(*record);
}

}  // namespace davit::manifest
