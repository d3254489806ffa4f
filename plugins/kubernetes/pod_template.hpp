// What the pod templates of all kinds have in common: where the pods may run, their resources, the
// hash. A kind's Site has a Placement, and the kind renders its template with the functions here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>
#include <davit/kind_needs.hpp>
#include <davit/kubernetes/toleration.hpp>

namespace davit::kubernetes {

// What a site decides about every pod.
struct Placement {
  std::string runtime_class;  // empty: the cluster's default
  std::vector<Toleration> tolerations;
  std::vector<std::string> image_pull_secrets = {};
};

// The settings `runtime_class`, `tolerations` and `image_pull_secrets`. Only for a plugin's
// constructor.
Placement read_placement(const Settings&, Placement fallback);

// Adds the RuntimeClass, if the site sets one, to what the kind needs.
void add_needs(const Placement&, std::vector<kind::Need>& to);

// A template's hash changes with the order of its members. So a pod's spec is rendered in two
// steps, and a kind writes members of its own between and behind them.
//
// First: runtimeClassName, restartPolicy.
boost::json::object begin_pod_spec(const Placement&);
// Then: imagePullSecrets, tolerations, topologySpreadConstraints. The pods with the label
// `key: value` are spread over the zones.
void add_placement(boost::json::object& spec, const Placement&, const std::string& key,
                   const std::string& value);

struct Size {
  int64_t cpu_millicores = 0, memory_mib = 0;
};
// The resources of a container.
boost::json::object resources(const Size& limits, const Size& requests);

// Tells pods of one template from those of another. It changes with every byte of the template.
std::string template_hash(const boost::json::object& pod_template);

}  // namespace davit::kubernetes
