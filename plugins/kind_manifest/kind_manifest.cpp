// The plugin: describes manifests to the host, and hands each call of the kind role to the part
// that decides it. Its only state is its settings.
#include <davit/kind_needs.hpp>

#include "manifest.hpp"
#include "manifest_descriptors.h"
#include "marks.hpp"
#include "reconcile.hpp"
#include "site.hpp"

namespace davit::manifest {
namespace {

kind::Description describe(const Site& site) {
  kind::Description d;
  d.kind = "manifest";
  d.apply_type = "davit.v1.ApplyManifest";
  d.descriptor_set = manifest_descriptors();
  d.json_fields = {"davit.v1.ApplyManifest.objects"};
  d.resources = {{DAVIT_RESOURCE_ENSURED, "", "v1", "namespaces", "Namespace", false, "", {}}};
  for (const AllowedKind& k : site.kinds)
    d.resources.push_back(
        {DAVIT_RESOURCE_OWNED, k.group, k.version, k.resource, k.kind, true, marks::label, {}});
  d.columns = {{DAVIT_COLUMN_DETAIL, "UNHEALTHY", "/unhealthy", "string", 0}};
  return d;
}

class Kind {
 public:
  using roles = Roles<kind::Role, kind::NeedsRole>;
  static constexpr uint32_t max_concurrency = 4;  // reconciliations at once

  explicit Kind(Host host) : site_(read_site(host)), described_(describe(site_)) {}

  const kind::Described& described() const { return described_; }
  // Without the right to one kind, or without its definition, the others can do.
  std::vector<kind::Need> needs() const {
    std::vector<kind::Need> out;
    for (const AllowedKind& k : site_.kinds)
      out.push_back(
          {k.group, k.version, k.resource, {}, {}, "kinds = [...] without \"" + k.text() + "\""});
    return out;
  }
  Result<Named> identify(std::string_view apply) const { return manifest::identify(apply); }
  Result<> validate(std::string_view apply) const { return manifest::validate(apply, site_); }
  Result<kind::Class> classify(std::string_view state, std::string_view) const {
    if (state == "running") return kind::Class::apply;
    if (state == "archived" || state == "stopped") return kind::Class::remove;
    return kind::Class::unhandled;
  }
  Result<std::string> reconcile(std::string_view input) const {
    return manifest::reconcile(input, site_);
  }
  Result<Named> attribute(std::string_view object) const { return manifest::attribute(object); }

 private:
  const Site site_;
  const kind::Described described_;
};

}  // namespace
}  // namespace davit::manifest

DAVIT_PLUGIN(davit::manifest::Kind, "kind_manifest", DAVIT_PLUGIN_VERSION,
             "any objects of Kubernetes as one record")
