// The plugin: describes clusters to the host, and hands each call of the kind role to the part that
// decides it. Its only state is its settings.
#include <davit/kind.hpp>

#include "cluster_descriptors.h"
#include "reconcile.hpp"
#include "record.hpp"
#include "render.hpp"
#include "site.hpp"

namespace davit::cluster_record {
namespace {

kind::Description describe() {
  kind::Description d;
  d.kind = "cluster";
  d.apply_type = "davit.v1.ApplyCluster";
  d.descriptor_set = cluster_descriptors();
  d.json_fields = {"davit.v1.ApplyCluster.provider_spec"};
  d.resources = {
      {DAVIT_RESOURCE_ENSURED, "", "v1", "namespaces", "Namespace", false, "", {}},
      {DAVIT_RESOURCE_OWNED, group, version, resource, object_kind, true, name_mark, {}}};
  d.columns = {{DAVIT_COLUMN_SPEC, "PROVIDER", "/provider_spec/apiVersion", "string", 0},
               {DAVIT_COLUMN_SPEC, "PODS", "/network/pods", "string", 1},
               {DAVIT_COLUMN_DETAIL, "REASON", "/reason", "string", 0},
               {DAVIT_COLUMN_DETAIL, "ENDPOINT", "/endpoints", "string", 0},
               {DAVIT_COLUMN_DETAIL, "ACTUATOR", "/actuator", "string", 1}};
  return d;
}

class Kind {
 public:
  using roles = Roles<kind::Role>;
  static constexpr uint32_t max_concurrency = 4;  // reconciliations at once

  explicit Kind(Host host) : site_(read_site(host)), described_(describe()) {}

  const kind::Described& described() const { return described_; }
  Result<Named> identify(std::string_view apply) const { return cluster_record::identify(apply); }
  Result<> validate(std::string_view apply) const { return cluster_record::validate(apply, site_); }
  Result<kind::Class> classify(std::string_view state, std::string_view) const {
    if (state == "running") return kind::Class::apply;
    if (state == "archived" || state == "stopped") return kind::Class::remove;
    return kind::Class::unhandled;
  }
  Result<std::string> reconcile(std::string_view input) const {
    return cluster_record::reconcile(input, site_);
  }
  Result<Named> attribute(std::string_view object) const {
    return cluster_record::attribute(object);
  }

 private:
  const Site site_;
  const kind::Described described_;
};

}  // namespace
}  // namespace davit::cluster_record

DAVIT_PLUGIN(davit::cluster_record::Kind, "kind_cluster", DAVIT_PLUGIN_VERSION,
             "Clusters of Cluster API v1alpha1")
