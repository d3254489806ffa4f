// Maps the id of a service to its table, for davit_host.query. The assembly fills it before it
// creates the first plugin; afterwards it is only read. [any]
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

class Services {
 public:
  void add(std::string_view id, const void* table) { tables_.emplace(id, table); }
  // For ids of another part of the host: the table of an id, or nullptr. It outlives this object.
  using Lookup = std::function<const void*(std::string_view id)>;
  void add(Lookup lookup) { lookups_.push_back(std::move(lookup)); }
  // nullptr: not offered.
  const void* find(std::string_view id) const;

 private:
  std::map<std::string, const void*, std::less<>> tables_;
  std::vector<Lookup> lookups_;
};

// Adds the host's own services: log, config, metrics, exec, clock, look-up, credentials, state,
// health, shutdown, commit. Each is one file of this folder with one table.
void add_host_services(Services& services);

}  // namespace davit::host
