// What a Cluster wants of this actuator: its spec.providerSpec.value, read.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include <davit/types.hpp>

namespace acme {

struct Wanted {
  std::map<std::string, std::string> files;  // their content; it may be a credential
  std::chrono::milliseconds boot{0};         // the cluster is ready so long after it was begun
  std::chrono::milliseconds step{0};         // before each file that is written
};

// `cluster` is the whole Cluster as JSON. No text of an error quotes it.
davit::Result<Wanted> wanted_of(const std::string& cluster);

// Whether a text can be the name of a file, or a part of one, and is not hidden.
bool is_file_name(const std::string& text);

}  // namespace acme
