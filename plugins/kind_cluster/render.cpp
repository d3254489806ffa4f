#include "render.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <davit/short_hash.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::cluster_record {
namespace {

json::object ranges(const std::vector<std::string>& all) {
  json::array blocks;
  for (const auto& one : all) blocks.emplace_back(one);
  return {{"cidrBlocks", std::move(blocks)}};
}

json::object spec_of(const Record& r) {
  // The definition wants each of these, and an empty one will do.
  json::object spec{{"clusterNetwork",
                     {{"services", ranges(r.services)},
                      {"pods", ranges(r.pods)},
                      {"serviceDomain", r.service_domain}}}};
  if (r.provider_spec) spec["providerSpec"] = {{"value", *r.provider_spec}};
  if (r.machine_class) spec["providerSpec"] = {{"valueFrom", {{"machineClass", *r.machine_class}}}};
  return spec;
}

}  // namespace

json::object render(const Record& r) {
  json::object labels = r.labels;
  labels[name_mark] = r.name;
  json::object annotations = r.annotations;
  if (r.paused) annotations[paused_annotation] = "true";
  json::object object{{"apiVersion", std::string(group) + "/" + version},
                      {"kind", object_kind},
                      {"metadata",
                       {{"name", r.name},
                        {"namespace", r.ns},
                        {"labels", std::move(labels)},
                        {"annotations", std::move(annotations)}}},
                      {"spec", spec_of(r)}};
  const std::string hash = short_hash(json::serialize(object));
  object["metadata"].get_object()["annotations"].get_object()[hash_mark] = hash;
  return object;
}

std::string hash_of(const json::object& rendered) {
  const auto* annotations =
      kubernetes::object_in(kubernetes::object_in(rendered, "metadata"), "annotations");
  return std::string(kubernetes::text_in(annotations, hash_mark));
}

std::optional<Named> record_of(const json::value& observed) {
  const auto ns = kubernetes::text_at(observed, "/metadata/namespace");
  const auto name = kubernetes::text_at(observed, "/metadata/name");
  if (!kubernetes::is(observed, group, object_kind) || ns.empty() || name.empty() ||
      kubernetes::label(observed, name_mark) != name)
    return std::nullopt;
  return Named{"", std::string(ns), std::string(name)};
}

}  // namespace davit::cluster_record
