// Which service has which table: what davit_host.query looks into. Filled by the assembly before
// the first plugin is made, then only read. [any]
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

class Extension;

class Services {
 public:
  void add(std::string_view id, const void* table) { tables_.emplace(id, table); }
  void add(const Extension& extension) { extensions_.push_back(&extension); }
  // nullptr: not offered.
  const void* find(std::string_view id) const;

 private:
  std::map<std::string, const void*, std::less<>> tables_;
  std::vector<const Extension*> extensions_;
};

// Adds the host's own services: log, config, metrics, exec, clock, look-up, credentials, state,
// health, shutdown, commit. Each is one file of this folder with one table.
void add_host_services(Services& services);

}  // namespace davit::host
