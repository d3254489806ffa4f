#include "admission.hpp"

#include <algorithm>
#include <set>

#include <davit/utf8.hpp>

namespace davit::recorder {

namespace {

constexpr size_t name_bytes_max = 253;  // the limit of a host name
// Most databases store versions and sequences as signed numbers.
constexpr uint64_t number_max = INT64_MAX;

Error bad(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where), {}};
}

Result<> known_kind(const std::string& kind, const std::vector<std::string>& kinds) {
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return {};
  return bad({}, "kind \"" + shortened(kind, name_bytes_max) + "\" is not known to this server");
}

Result<> check_issue(const Issue& issue) {
  for (const std::string* name :
       {&issue.kind, &issue.id, &issue.ns, &issue.name, &issue.condition}) {
    if (name->size() > name_bytes_max)
      return bad("issues", "a name is longer than " + std::to_string(name_bytes_max) + " bytes");
  }
  if (issue.version > number_max || issue.incarnation > number_max)
    return bad("issues", "a version or an incarnation is out of range");
  return {};
}

size_t size_of(const Issue& i) {
  return i.kind.size() + i.id.size() + i.ns.size() + i.name.size() + i.condition.size() +
         i.reason.size();
}

}  // namespace

Result<> check_name(std::string_view field, std::string_view name) {
  const char* fault = nullptr;
  if (name.empty()) fault = "is empty";
  if (name.size() > name_bytes_max) fault = "is longer than 253 bytes";
  if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c <= 0x20 || c >= 0x7f; }))
    fault = "must be printable ASCII without spaces";
  if (fault == nullptr) return {};
  return bad(std::string(field), fault);
}

Result<> admit(const Progress& said, const std::vector<std::string>& kinds, const Limits& limits) {
  if (auto r = check_name("agent", said.agent); !r.ok()) return r;
  if (said.region.size() > name_bytes_max) return bad("region", "is longer than 253 bytes");
  if (auto r = admit_epoch(said.epoch, limits, said.seen_at_unix_ms); !r.ok()) return r;
  if (said.sequence > number_max) return bad("sequence", "is out of range");
  std::set<std::string_view> once;
  for (const auto& k : said.kinds) {
    if (auto r = known_kind(k.kind, kinds); !r.ok()) return r;
    if (!once.insert(k.kind).second) return bad("kinds", "kind \"" + k.kind + "\" is named twice");
  }
  for (const auto& issue : said.issues) {
    if (auto r = check_issue(issue); !r.ok()) return r;
  }
  return {};
}

void cut_to(const Limits& limits, Progress& said) {
  said.software = shortened(said.software, name_bytes_max);
  size_t kept = 0, bytes = 0;
  for (; kept < said.issues.size() && kept < limits.issues; ++kept) {
    Issue& issue = said.issues[kept];
    issue.reason = shortened(issue.reason, limits.status.text_bytes);
    bytes += size_of(issue);
    if (bytes > limits.issue_bytes) break;
  }
  if (kept < said.issues.size()) {
    const size_t more = said.issues.size() - kept;
    said.issues.resize(kept);
    said.issues.push_back(
        {{},
         {},
         {},
         "issues",
         0,
         "more",
         std::to_string(more) +
             " more are not kept (issues_per_agent_max, issue_bytes_per_agent_max of the server)"});
  }
}

Result<> admit(const Status& status, const std::vector<std::string>& kinds, const Limits& limits,
               int64_t now_unix_ms) {
  if (auto r = known_kind(status.key.kind, kinds); !r.ok()) return r;
  if (status.key.id.size() > name_bytes_max)
    return bad({}, "the id is longer than " + std::to_string(name_bytes_max) + " bytes");
  return admit_numbers(status, limits, now_unix_ms);
}

Result<> admit_numbers(const Status& status, const Limits& limits, int64_t now_unix_ms) {
  if (status.observed_version > number_max) return bad({}, "the observed version is out of range");
  if (status.sequence > number_max) return bad({}, "the sequence is out of range");
  return admit_epoch(status.epoch, limits, now_unix_ms);
}

Result<> admit_epoch(uint64_t epoch, const Limits& limits, int64_t now_unix_ms) {
  if (plausible_epoch(epoch, now_unix_ms, limits.epoch_ahead)) return {};
  return Error{
      Code::failed_precondition,
      "epoch " + std::to_string(epoch) + " is more than " +
          std::to_string(std::chrono::ceil<std::chrono::hours>(limits.epoch_ahead).count() / 24) +
          " days ahead of this server's time: set the clock that is wrong",
      "epoch",
      {}};
}

}  // namespace davit::recorder
