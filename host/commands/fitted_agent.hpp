// The configuration of an agent as it is shipped (etc/agent.toml), fitted to a server: the kinds
// that the server has, and no others. Pure.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "token_client.hpp"

namespace davit::host {

// The tables of `shipped` without comments. Of the kinds, those that are among `kinds`: as shipped,
// also where they are switched off there; others by their module alone. `is_kind` says it of a
// module's name. `url` and `region` replace those of the client.
std::string fitted_agent_toml(std::string_view shipped, const std::vector<ServerPlugin>& kinds,
                              const std::function<bool(const std::string& module)>& is_kind,
                              const std::string& url, const std::string& region);

}  // namespace davit::host
