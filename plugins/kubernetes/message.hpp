// The rules of fields that the messages of several kinds have. A kind's reader of messages uses
// them beside Fields.
#pragma once

#include <davit/kubernetes/names.hpp>

#include "fields.hpp"

namespace davit::kubernetes {

inline constexpr int64_t int32_top = 2'147'483'647;  // of counts, which are int32 on every wire
// Far above any node. These limits keep every calculation inside 64 bits.
inline constexpr int64_t cpu_millicores_top = 1'000'000'000;
inline constexpr int64_t memory_mib_top = 1'073'741'824;

// The codec shows bytes of a JSON field under this key when they are not JSON, or are JSON's null.
inline constexpr std::string_view raw_bytes_key = "$base64";

// The key of a label or an annotation, "disktype" or "example.com/team": the rules of
// k8s.io/apimachinery/pkg/util/validation, IsQualifiedName.
inline std::optional<std::string> label_key_fault(std::string_view key) {
  const size_t slash = key.rfind('/');
  const std::string_view name = slash == key.npos ? key : key.substr(slash + 1);
  const bool good = !name.empty() && !label_value_fault(name) &&
                    (slash == key.npos || names::is_subdomain(key.substr(0, slash)));
  if (good) return std::nullopt;
  return names::refused("a label's key, such as \"team\" or \"example.com/team\"", key);
}

// An id that becomes a label's value. The first must be there, the second may be empty.
inline std::string needed_id(const Fields& f, std::string_view key) {
  std::string value = f.needed(key);
  if (auto fault = label_value_fault(value)) f.reject(key, *fault);
  return value;
}
inline std::string optional_id(const Fields& f, std::string_view key) {
  std::string value = f.string(key);
  if (auto fault = label_value_fault(value)) f.reject(key, *fault);
  return value;
}

inline std::string needed_image(const Fields& f, std::string_view key) {
  std::string value = f.needed(key);
  if (value.find_first_of(" \t\r\n") != std::string::npos)
    f.reject(key, "must not contain white space");
  return value;
}

}  // namespace davit::kubernetes
