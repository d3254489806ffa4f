// Names as an API server treats them: which are valid, and how it creates uids, suffixes of pod
// names and times.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace davit::cluster_memory {

using Random = std::function<uint64_t()>;  // uniform over 64 bits

// RFC 1123 label (63 characters, no dots) and subdomain (253, dots allowed).
bool valid_label_name(std::string_view name);
bool valid_subdomain(std::string_view name);
// A label's key ("prefix/name") and value, by the rules of Kubernetes.
bool valid_label_key(std::string_view key);
bool valid_label_value(std::string_view value);

std::string make_uid(const Random& random);
// Five characters of the alphabet that Kubernetes uses. It has no vowels, so they form no words.
std::string make_suffix(const Random& random);

}  // namespace davit::cluster_memory
