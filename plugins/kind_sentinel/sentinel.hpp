// What an ApplySentinel message says, typed and checked. read_sentinel makes it and is the kind's
// validate. All code behind this type may rely on the rules that read_sentinel enforces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "site.hpp"

namespace davit::sentinel {

struct Sentinel {
  std::string name;
  std::string workspace_id, project_id, app_id, environment_id, sentinel_id;
  std::string image;
  int64_t replicas = 0;
  int64_t cpu_millicores = 0, memory_mib = 0;

  std::string gossip_name() const;
};

// `message` is as the codec shows it. INVALID_ARGUMENT with the field's name in `where`.
Result<Sentinel> read_sentinel(const boost::json::object& message);
Result<Sentinel> read_sentinel(std::string_view apply);

// Reads only the id and the name. The message has no namespace, so the site's is used.
Result<Named> identify(std::string_view apply, const Site&);

// Whether the message asks for zero replicas. False when that cannot be told.
bool wants_none(std::string_view apply);

}  // namespace davit::sentinel
