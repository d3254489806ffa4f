#include "expectation.hpp"

#include <algorithm>

#include <davit/rfc3339.hpp>

namespace davit::desired {

namespace {

// `: "alice" changed it at 2026-11-24T20:00:00.000Z`.
std::string who_and_when(const Record& stored) {
  if (stored.author.empty() || stored.committed_at_unix_ms == 0) return {};
  return std::string(": \"") + stored.author + "\" " +
         (stored.state == "deleted" ? "deleted" : "changed") + " it at " +
         rfc3339(stored.committed_at_unix_ms);
}

}  // namespace

Result<bool> is_met(const Expectation& expected, const std::optional<Record>& stored,
                    const Cursor& head, const std::function<Result<History>()>& history) {
  if (expected.version == any_version) return true;
  if (!expected.version) return is_absent(stored);
  if (is_absent(stored) || stored->version != expected.version) return false;
  if (!expected.incarnation || expected.incarnation == head.incarnation) return true;
  const auto known = history();
  if (!known.ok()) return known.error();
  return std::any_of(known->begin(), known->end(), [&](const Cursor& end) {
    return end.incarnation == expected.incarnation && expected.version <= end.version;
  });
}

Error unmet(const Key& key, const Expectation& expected, const std::optional<Record>& stored) {
  std::string text = key.kind + " \"" + key.id + "\" of region \"" + key.region + "\" ";
  if (is_absent(stored)) {
    text += "does not exist";
  } else if (stored->version == expected.version) {
    text += "has version " + to_string(stored->version) + " of another history of the store";
  } else {
    text += "has version " + to_string(stored->version);
  }
  text += ", expected was ";
  text += expected.version ? "version " + to_string(expected.version) : "no such record";
  return {Code::aborted, text + (stored ? who_and_when(*stored) : ""), "expect"};
}

}  // namespace davit::desired
