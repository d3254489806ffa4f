#include "limits.hpp"

namespace davit::host {
namespace {

// A key that is not text cannot stand in a message.
std::string display(const Key& key) {
  const auto odd = storage::Domain().text({}, key.kind).text({}, key.region).text({}, key.id);
  if (odd.error()) return "a record";
  return key.kind + " \"" + shortened(key.id, DAVIT_NAME_BYTES_MAX) + "\" of region \"" +
         shortened(key.region, DAVIT_REGION_BYTES_MAX) + "\"";
}

Error invalid(std::string message, std::string where = {}) {
  return {Code::invalid_argument, std::move(message), std::move(where)};
}

Error of(const std::string& what, const Error& e) {
  return invalid(what + ": " + e.where + " " + e.message, e.where);
}

Error too_large(const std::string& what, uint64_t bytes, uint64_t max, std::string where = {}) {
  return invalid(
      what + " has " + std::to_string(bytes) + " bytes, and may have " + std::to_string(max),
      std::move(where));
}

}  // namespace

std::optional<Error> fault_in(const storage::Limits& limits) {
  constexpr uint64_t least_report = 512 * 1024;
  std::string what;
  if (limits.group_records == 0) what = "group_records is 0";
  if (limits.report_statuses == 0) what = "report_statuses is 0";
  if (limits.group_bytes < limits.record_bytes) what = "group_bytes is below record_bytes";
  if (limits.report_bytes < least_report)
    what = "report_bytes is below " + std::to_string(least_report);
  if (what.empty()) return std::nullopt;
  return Error{Code::internal, "a fault of the plugin: of its limits, " + what};
}

std::optional<Error> refuse(const Group& group, const storage::Limits& limits) {
  const size_t records = group.mutations.size();
  if (records == 0 || records > limits.group_records) {
    return invalid("a group has 1 to " + std::to_string(limits.group_records) + " records, not " +
                   std::to_string(records));
  }
  if (auto e = storage::Domain()
                   .text("request_id", group.request_id, DAVIT_REQUEST_ID_BYTES_MAX)
                   .error())
    return of("a group", *e);
  uint64_t sum = 0;
  for (const Mutation& m : group.mutations) {
    if (auto e = storage::outside(m)) return of(display(m.record.key), *e);
    const uint64_t bytes = storage::stored_bytes(m.record);
    if (bytes > limits.record_bytes)
      return too_large(display(m.record.key), bytes, limits.record_bytes, m.record.key.id);
    sum += bytes;
  }
  if (sum > limits.group_bytes) {
    Error e =
        too_large("a group of " + std::to_string(records) + " records", sum, limits.group_bytes);
    e.message += ": divide it";
    return e;
  }
  return std::nullopt;
}

std::optional<Error> refuse(const Status& status, const storage::Limits& limits) {
  const std::string what = "the status of " + display(status.key);
  if (auto e = storage::outside(status)) return of(what, *e);
  const uint64_t bytes = storage::stored_bytes(status);
  if (bytes > limits.report_bytes)
    return too_large(what, bytes, limits.report_bytes, status.key.id);
  return std::nullopt;
}

size_t end_of_report(const std::vector<const Status*>& statuses, size_t first,
                     const storage::Limits& limits) {
  uint64_t bytes = 0;
  size_t end = first;
  while (end < statuses.size() && end - first < limits.report_statuses) {
    bytes += storage::stored_bytes(*statuses[end]);
    if (end > first && bytes > limits.report_bytes) break;
    ++end;
  }
  return end;
}

}  // namespace davit::host
