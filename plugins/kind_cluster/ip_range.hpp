// A range of IP addresses as Kubernetes writes it: "10.96.0.0/12", "fd00::/108". Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davit::cluster_record {

// What is wrong with it, as the rest of a sentence that begins with the field; nothing: it is one.
// Bits behind the prefix may be set, as the programs of Kubernetes allow it.
std::optional<std::string> ip_range_fault(std::string_view text);

}  // namespace davit::cluster_record
