// Lease objects of coordination.k8s.io/v1: reads what the API server says of one, and builds the
// requests that write it. The plugin uses these functions; Election decides. Pure.
#pragma once

#include <string_view>

#include <davit/cluster.hpp>

#include "election.hpp"

namespace davit::leader {

// Where the Lease is in the cluster.
struct Place {
  std::string ns, name;
  std::string text() const { return ns + "/" + name; }
};

// The resource of every request.
cluster::Resource leases();

// The Role, as YAML, that grants what write_request and a read of the Lease need, and no more. A
// right on all Leases would let an agent take the place of any controller of the cluster.
std::string lease_role(const Place& place);

Result<Lease> parse_lease(std::string_view object);

// The request that makes the Lease say what `lease` says. It is refused when the Lease has changed
// since it was read. It is a merge patch, so what others have put on the object stays. `acquires`:
// the holder is a new one.
cluster::Request write_request(const Place& place, const Lease& lease, bool acquires,
                               int64_t now_unix_ms);

}  // namespace davit::leader
