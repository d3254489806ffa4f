#include "decide.hpp"

#include <algorithm>

#include <boost/json.hpp>

#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"

namespace davit::clusters {
namespace {

bool is_ours(const json::value& entry) {
  return kubernetes::text_of(&entry) == finalizer;
}

json::array finalizers(const json::object& cluster) {
  const auto* list = kubernetes::array_in(kubernetes::object_in(cluster, "metadata"), "finalizers");
  return list == nullptr ? json::array() : *list;
}

Error invalid(std::string message, std::string where) {
  Error e{Code::invalid_argument, std::move(message)};
  e.where = std::move(where);
  return e;
}

Result<std::string> group_of(const json::object& cluster) {
  const auto* spec = kubernetes::object_in(cluster, "spec");
  const auto* provider = kubernetes::object_in(spec, "providerSpec");
  const json::value* value = kubernetes::value_in(provider, "value");
  const json::value* from = kubernetes::value_in(provider, "valueFrom");
  const bool has_value = value != nullptr && !value->is_null();
  if (has_value && from != nullptr && !from->is_null())
    return invalid("has both value and valueFrom: remove one of them", "spec.providerSpec");
  if (has_value && !value->is_object())
    return invalid("must be an object", "spec.providerSpec.value");
  return std::string(kubernetes::group_of(
      has_value ? kubernetes::text_in(value->get_object(), "apiVersion") : std::string_view{}));
}

Result<size_t> named(const std::vector<Provider>& providers, std::string_view instance) {
  const auto it = std::ranges::find(providers, instance, &Provider::instance);
  if (it != providers.end()) return static_cast<size_t>(it - providers.begin());
  return Error{Code::not_found, "the actuator \"" + std::string(instance) +
                                    "\" has begun this cluster (status.actuator), and is not a "
                                    "provider of this controller any more: configure it again"};
}

std::string_view begun_by(const json::object& cluster) {
  return kubernetes::text_in(kubernetes::object_in(cluster, "status"), "actuator");
}

}  // namespace

Step step_of(const json::object& cluster) {
  const json::array list = finalizers(cluster);
  const bool has = std::ranges::any_of(list, is_ours);
  const auto* meta = kubernetes::object_in(cluster, "metadata");
  const bool paused = kubernetes::value_in(kubernetes::object_in(meta, "annotations"),
                                           paused_annotation) != nullptr;
  if (!kubernetes::text_in(meta, "deletionTimestamp").empty())
    return !has ? Step::nothing : paused ? Step::paused : Step::remove;
  if (!has) return Step::add_finalizer;
  return paused ? Step::paused : Step::reconcile;
}

json::array with_finalizer(const json::object& cluster) {
  json::array out = finalizers(cluster);
  if (std::ranges::none_of(out, is_ours)) out.emplace_back(finalizer);
  return out;
}

json::array without_finalizer(const json::object& cluster) {
  json::array out;
  for (const json::value& entry : finalizers(cluster))
    if (!is_ours(entry)) out.push_back(entry);
  return out;
}

Result<size_t> provider_of(const std::vector<Provider>& providers, const json::object& cluster) {
  const std::string_view begun = begun_by(cluster);
  const auto group = group_of(cluster);
  if (!group.ok()) return group.error();
  size_t found = providers.size();
  for (size_t i = 0; i < providers.size(); ++i) {
    if (std::ranges::find(providers[i].groups, *group) != providers[i].groups.end()) found = i;
    if (providers[i].groups.empty() && found == providers.size()) found = i;
  }
  if (found == providers.size()) {
    Error e{Code::not_found,
            group->empty() ? "names no provider: set apiVersion, such as \"" +
                                 providers.front().groups.front() + "/v1\""
                           : "no actuator is configured for the API group \"" + *group + "\""};
    e.where = "spec.providerSpec.value.apiVersion";
    return e;
  }
  if (begun.empty() || begun == providers[found].instance) return found;
  if (const auto former = named(providers, begun); !former.ok()) return former.error();
  return invalid("is for the actuator \"" + providers[found].instance + "\", but \"" +
                     std::string(begun) +
                     "\" has begun this cluster: change it back, or delete the Cluster and make "
                     "another",
                 "spec.providerSpec.value.apiVersion");
}

Result<std::vector<size_t>> removers_of(const std::vector<Provider>& providers,
                                        const json::object& cluster) {
  const std::string_view begun = begun_by(cluster);
  const auto one = begun.empty() ? provider_of(providers, cluster) : named(providers, begun);
  if (one.ok()) return std::vector<size_t>{*one};
  if (!begun.empty()) return one.error();
  std::vector<size_t> all;
  for (size_t i = 0; i < providers.size(); ++i) all.push_back(i);
  return all;
}

}  // namespace davit::clusters
