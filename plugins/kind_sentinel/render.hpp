// Renders a sentinel as Kubernetes objects. Reconcile makes them its plan. Members have a fixed
// order, so the same sentinel gives the same bytes. Pure.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>

#include "sentinel.hpp"

namespace davit::sentinel {

// Where the sentinel is put. Both come from the record, not from the message.
struct Place {
  std::string region, ns;
};

// Without its hash. The live Deployment carries the hash in its template, so that one can tell
// which template it has.
boost::json::object render_template(const Sentinel&, const Place&, const Site&);

// The plan of abi/kind.h in this order: namespace, Deployment, Service and disruption budget (both
// owned by the Deployment), gossip Service, gossip policy. It leaves out what the site does not
// want.
boost::json::array render(const Sentinel&, const Place&, const Site&,
                          boost::json::object pod_template);

}  // namespace davit::sentinel
