#include "suggestions.hpp"

#include "config/suggest.hpp"
#include "record_reader.hpp"

namespace davit::host {

namespace {

constexpr std::string_view refused_kind = "\" is not known to this server, which knows ";

std::string did_you_mean(const std::string& near) {
  return near.empty() ? "" : "; did you mean \"" + near + "\"?";
}

// "d_#" of "d_17".
std::string without_numbers(const std::string& id) {
  std::string out;
  for (const char c : id) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> known_kinds(const std::string& message) {
  std::vector<std::string> kinds;
  const size_t end = message.find(refused_kind);
  if (end == std::string::npos) return kinds;
  for (size_t at = end + refused_kind.size(); at < message.size();) {
    const size_t comma = std::min(message.find(", ", at), message.size());
    kinds.push_back(message.substr(at, comma - at));
    at = comma + 2;
  }
  return kinds;
}

std::string with_nearest_kind(const std::string& message) {
  const size_t end = message.find(refused_kind);
  if (end == std::string::npos || end == 0) return message;
  const size_t quote = message.rfind('"', end - 1);
  if (quote == std::string::npos) return message;
  const std::vector<std::string> kinds = known_kinds(message);
  return message + did_you_mean(nearest(message.substr(quote + 1, end - quote - 1), kinds));
}

std::string nearest_id(const std::string& wanted, const std::set<std::string, std::less<>>& ids) {
  std::set<std::string, std::less<>> others;
  for (const std::string& id : ids) {
    if (without_numbers(id) != without_numbers(wanted)) others.insert(id);
  }
  return nearest(wanted, others);
}

std::string IdSuggestions::after(const RecordName& absent) {
  std::set<std::string, std::less<>> ids;
  for (const auto& [region, there] : ids_of(absent.kind)) {
    if (there.contains(absent.id)) return "; there is one in region \"" + region + "\"";
    if (region_.empty() || region == region_) ids.insert(there.begin(), there.end());
  }
  return did_you_mean(nearest_id(absent.id, ids));
}

const IdSuggestions::Regions& IdSuggestions::ids_of(const std::string& kind) {
  const auto [found, is_new] = kinds_.try_emplace(kind);
  if (!is_new) return found->second;
  const auto read = read_records(*client_, {{{kind, {}}}, {}, false});
  if (!read.ok()) return found->second;
  for (const auto& record : read->records)
    found->second[record.document().region()].insert(record.document().id());
  return found->second;
}

}  // namespace davit::host
