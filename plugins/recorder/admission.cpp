#include "admission.hpp"

#include <algorithm>
#include <set>

#include <davit/storage_domain.hpp>

namespace davit::recorder {

namespace {

constexpr size_t name_bytes_max = DAVIT_NAME_BYTES_MAX;

Error bad(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where)};
}

Result<> known_kind(const std::string& kind, const std::vector<std::string>& kinds) {
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) return {};
  return bad({}, "kind \"" + shortened(kind, name_bytes_max) + "\" is not known to this server");
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
  if (auto r = admit_epoch(said.epoch, limits, said.seen_at_unix_ms); !r.ok()) return r;
  if (said.sequence > INT64_MAX) return bad("sequence", "is out of range");
  std::set<std::string_view> once;
  for (const auto& k : said.kinds) {
    if (auto r = known_kind(k.kind, kinds); !r.ok()) return r;
    if (!once.insert(k.kind).second) return bad("kinds", "kind \"" + k.kind + "\" is named twice");
  }
  if (auto e = storage::outside(said)) return *e;
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
         {},
         "more",
         std::to_string(more) +
             " more are not kept (issues_per_agent_max, issue_bytes_per_agent_max of the server)"});
  }
}

Result<> admit(const Status& status, const std::vector<std::string>& kinds, const Limits& limits,
               int64_t now_unix_ms) {
  if (auto r = known_kind(status.key.kind, kinds); !r.ok()) return r;
  return admit_numbers(status, limits, now_unix_ms);
}

Result<> admit_numbers(const Status& status, const Limits& limits, int64_t now_unix_ms) {
  if (auto r = admit_epoch(status.epoch, limits, now_unix_ms); !r.ok()) return r;
  if (auto e = storage::outside(status)) return bad({}, "the " + e->where + " " + e->message);
  return {};
}

Result<> admit_epoch(Epoch epoch, const Limits& limits, int64_t now_unix_ms) {
  if (plausible_epoch(epoch, now_unix_ms, limits.epoch_ahead)) return {};
  return Error{
      Code::failed_precondition,
      "epoch " + to_string(epoch) + " is more than " +
          std::to_string(std::chrono::ceil<std::chrono::hours>(limits.epoch_ahead).count() / 24) +
          " days ahead of this server's time: set the clock that is wrong",
      "epoch"};
}

}  // namespace davit::recorder
