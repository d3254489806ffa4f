// Applied: one object as this process applied it last. The hub keeps them with each record, and a
// reconciliation gets a copy and returns it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <davit/records.hpp>

namespace davit::applier {

struct Applied {
  uint64_t rendered = 0;  // fingerprint of the rendered object with our stamps, without the version
  uint64_t projected = 0;  // fingerprint of the API server's answer, cut to that shape
  std::string uid, resource_version;
  Cursor made_of;
  int64_t valid_until_unix_ms = 0;  // when its values have to be resolved anew; 0: not stated
};
using AppliedObjects = std::map<std::string, Applied>;  // by path

}  // namespace davit::applier
