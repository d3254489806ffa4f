#include "ref.hpp"

#include "sealed.hpp"

namespace davit::secrets_file {
namespace {

constexpr size_t part_bytes_max = 255;

std::string part_fault(std::string_view part) {
  if (part.empty()) return "has an empty part: one \"/\" stands between two names";
  if (part.front() == '.')
    return "has a part that begins with \".\": it names a file below the directory, as in "
           "\"apps/web/database\"";
  if (part.size() > part_bytes_max)
    return "has a part of more than " + std::to_string(part_bytes_max) + " bytes";
  return {};
}

}  // namespace

std::string ref_fault(std::string_view ref) {
  if (ref.empty()) return "is empty: it names a file below the directory";
  if (ref.front() == '/') return "begins with \"/\": it names a file below the directory";
  if (ref.size() > name_bytes_max)
    return "has more than " + std::to_string(name_bytes_max) + " bytes";
  if (ref.find('\0') != ref.npos) return "has a zero byte";
  for (std::string_view rest = ref;;) {
    const size_t slash = rest.find('/');
    if (auto fault = part_fault(rest.substr(0, slash)); !fault.empty()) return fault;
    if (slash == rest.npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace davit::secrets_file
