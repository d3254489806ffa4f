// From a sentinel to the Kubernetes objects that are it. Members stand in a fixed order, so the
// same sentinel is the same bytes.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

#include "sentinel.hpp"

namespace davit::sentinel {

// Where it is put: both from the record, not from the message.
struct Place {
  std::string region, ns;
};

// What the live Deployment carries beside its template, to know it again.
std::string template_hash(const boost::json::object& pod_template);
boost::json::object render_template(const Sentinel&, const Place&, const Site&);

// The plan of abi/kind.h: namespace, Deployment, Service and disruption budget (both owned by the
// Deployment), gossip Service and gossip policy, in this order, without what the site does not
// want.
boost::json::array render(const Sentinel&, const Place&, const Site&,
                          boost::json::object pod_template);

}  // namespace davit::sentinel
