// Lease objects of coordination.k8s.io/v1: what the API server says of one, and what is sent to it.
// Pure.
#pragma once

#include <string_view>

#include <davit/cluster.hpp>

#include "election.hpp"

namespace davit::leader {

// Where the Lease is.
struct Place {
  std::string ns, name;
  std::string text() const { return ns + "/" + name; }
};

// Of this resource every request is.
cluster::Resource leases();

// What write_request and a look at the Lease need, as the Role that grants it and no more: YAML. A
// right on all Leases would let an agent take the place of any controller of the cluster.
std::string lease_role(const Place& place);

Result<Lease> parse_lease(std::string_view object);

// The request that makes the Lease what `lease` says; it is refused when it is not as it was read.
// A merge patch: what others have put on the object stays. `acquires`: the holder is a new one.
cluster::Request write_request(const Place& place, const Lease& lease, bool acquires,
                               int64_t now_unix_ms);

}  // namespace davit::leader
