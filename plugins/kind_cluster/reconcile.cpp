#include "reconcile.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/plan.hpp"
#include "observed.hpp"
#include "render.hpp"

namespace davit::cluster_record {
namespace {

using namespace kubernetes;

bool is_cluster(const json::value& object) {
  return is(object, group, object_kind) && !text_at(object, "/metadata/namespace").empty() &&
         !text_at(object, "/metadata/name").empty();
}

bool is_named(const json::value& cluster, const Record& r) {
  return text_at(cluster, "/metadata/namespace") == r.ns &&
         text_at(cluster, "/metadata/name") == r.name;
}

// Every Cluster that is observed, but `kept`. One that is going already is not deleted once more.
json::array removals(const json::array& observed, const json::value* kept) {
  json::array out;
  for (const json::value& object : observed) {
    if (&object == kept || !is_cluster(object) || is_terminating(object)) continue;
    out.push_back(removal(group, version, resource, text_at(object, "/metadata/namespace"),
                          text_at(object, "/metadata/name")));
  }
  return out;
}

}  // namespace

Result<std::string> reconcile(std::string_view input, const Site& site) {
  const auto in = read_input(input);
  if (!in.ok()) return in.error();
  const json::array& observed = in->observed();
  const json::value* there = nullptr;
  if (in->desired() == nullptr) {
    for (const json::value& object : observed)
      if (is_cluster(object)) there = &object;
    return answer({}, removals(observed, nullptr), status_of_removal(there));
  }
  const auto record = read_record(*in->desired(), site);
  if (!record.ok()) return record.error();
  for (const json::value& object : observed)
    if (is_cluster(object) && is_named(object, *record)) there = &object;
  json::object object = render(*record);
  json::object status = status_of(*record, hash_of(object), there);
  json::array apply;
  apply.push_back(ensure_namespace(record->ns));
  apply.push_back(apply_step(std::move(object)));
  return answer(std::move(apply), removals(observed, there), std::move(status));
}

Result<Named> attribute(std::string_view object) {
  const auto value = parse_object(object, "the object");
  if (!value.ok()) return value.error();
  auto record = record_of(*value);
  if (!record) return Error{Code::not_found, "no Cluster of a record"};
  return std::move(*record);
}

}  // namespace davit::cluster_record
