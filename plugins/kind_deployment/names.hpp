// The forms of names that Kubernetes accepts. Each function says what is wrong with a name, as the
// rest of a sentence that begins with the field ("must be a DNS label ..."), or nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace davit::deployment {

// RFC 1123: a namespace.
std::optional<std::string> dns_label_fault(std::string_view name);
// RFC 1123: what most objects are called.
std::optional<std::string> dns_subdomain_fault(std::string_view name);
// A label's value; may be empty.
std::optional<std::string> label_value_fault(std::string_view value);
std::optional<std::string> environment_name_fault(std::string_view name);

}  // namespace davit::deployment
