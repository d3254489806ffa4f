#include "contract.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include <davit/abi/actuator.h>
#include <davit/abi/kind_needs.h>
#include <davit/abi/records_role.h>
#include <davit/abi/rights.h>
#include <davit/abi/secrets.h>
#include <davit/abi/storage_election.h>
#include <davit/abi/storage_intents.h>
#include <davit/abi/storage_move.h>
#include <davit/abi/storage_schema.h>

#include "role_proxy.hpp"

namespace davit::host {

// A caller that reads page after page would never end.
template <>
struct Answer<&davit_storage::read> {
  static const char* fault(const davit_op*, const davit_read* asked, davit_visit_record, void*,
                           const davit_page* page, davit_error*) {
    const bool stands =
        (page->flags & DAVIT_PAGE_MORE) != 0 && page->next_version <= asked->cursor.version;
    return stands ? " gave a page that does not advance" : nullptr;
  }
};

namespace {

template <class Table, class Function>
size_t offset_of(Function Table::*member) {
  static const Table table{};
  return static_cast<size_t>(reinterpret_cast<const char*>(&(table.*member)) -
                             reinterpret_cast<const char*>(&table));
}

template <auto Member, SlotName Name, Place Where = Place::by_role>
Slot required() {
  static constexpr SlotName name = Name;
  return {name.text, offset_of(Member), true,
          reinterpret_cast<AnySlot>(&Forward<Member, Name, Where>::call)};
}
template <auto Member, SlotName Name, Place Where = Place::by_role>
Slot optional() {
  Slot out = required<Member, Name, Where>();
  out.required = false;
  return out;
}

constexpr size_t column_name_max = 32;

Error lacks(const std::string& what) {
  return {Code::failed_precondition, what};
}

bool is_heading(std::string_view name) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  return !name.empty() && name.size() <= column_name_max &&
         std::all_of(name.begin(), name.end(), printable);
}

// In RFC 6901 "~" begins an escape, "~0" or "~1".
bool is_json_pointer(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  for (size_t at = path.find('~'); at != path.npos; at = path.find('~', at + 1)) {
    if (at + 1 == path.size() || (path[at + 1] != '0' && path[at + 1] != '1')) return false;
  }
  return true;
}

Result<> judge_columns(const davit_kind_description& d) {
  if (!DAVIT_HAS(&d, columns_count)) return {};
  std::set<std::pair<int32_t, std::string_view>> names;
  for (size_t i = 0; i < d.columns_count; ++i) {
    if (d.columns == nullptr || d.columns[i] == nullptr)
      return lacks("its description has a column that is NULL");
    const auto& column = *d.columns[i];
    const std::string its = "its column \"" + text(column.name) + "\" ";
    if (!is_heading(view(column.name)))
      return lacks(its + "has a name that is not 1 to " + std::to_string(column_name_max) +
                   " printable ASCII letters");
    if (!is_json_pointer(view(column.path)))
      return lacks(its + "has the path \"" + text(column.path) + "\", which is no JSON pointer");
    if (!names.insert({column.source, view(column.name)}).second)
      return lacks(its + "is there twice");
  }
  return {};
}

// The slots for ctrl.v1 are needed by what the description says.
Result<> judge_kind(davit_instance* self, const void* table) {
  const auto& kind = *static_cast<const davit_kind*>(table);
  const davit_kind_description* const d = kind.describe(self);
  if (d == nullptr) return lacks("kind.describe answers NULL");
  if (!DAVIT_HAS(d, resources_count))
    return lacks("its description is too short for its resources");
  if (d->kind.len == 0) return lacks("its description names no kind");
  if (d->apply_type.len == 0) return lacks("its description names no apply_type");
  for (size_t i = 0; i < d->resources_count; ++i) {
    if (d->resources == nullptr || d->resources[i] == nullptr)
      return lacks("its description has a resource that is NULL");
  }
  if (auto r = judge_columns(*d); !r.ok()) return r;
  if (!DAVIT_HAS(d, ctrl_v1) || d->ctrl_v1 == nullptr) return {};
  if (!DAVIT_HAS(&kind, delete_message) || kind.delete_message == nullptr)
    return lacks("its description has ctrl_v1, but the slot kind.delete_message is missing");
  if (d->ctrl_v1->report.len == 0) return {};
  if (!DAVIT_HAS(&kind, from_report) || kind.to_report == nullptr || kind.from_report == nullptr)
    return lacks(
        "its description reports on ctrl_v1, but a slot kind.to_report or "
        "kind.from_report is missing");
  return {};
}

std::vector<Contract> table() {
  using enum Step::Kind;
  return {
      {DAVIT_STORAGE,
       sizeof(davit_storage),
       blocking_call,
       {required<&davit_storage::limits, "storage.limits">(),
        required<&davit_storage::head, "storage.head">(),
        required<&davit_storage::read, "storage.read">(),
        required<&davit_storage::get, "storage.get">(),
        required<&davit_storage::commit, "storage.commit">(),
        required<&davit_storage::report, "storage.report">(),
        required<&davit_storage::statuses, "storage.statuses">(),
        required<&davit_storage::progress, "storage.progress">(),
        required<&davit_storage::agents, "storage.agents">(),
        required<&davit_storage::maintain, "storage.maintain">(),
        optional<&davit_storage::watch, "storage.watch">(),
        optional<&davit_storage::unwatch, "storage.unwatch">(),
        required<&davit_storage::history, "storage.history">()},
       nullptr},
      {DAVIT_STORAGE_COPY,
       sizeof(davit_storage_copy),
       job,
       {required<&davit_storage_copy::backup, "storage_copy.backup">(),
        required<&davit_storage_copy::verify, "storage_copy.verify">(),
        required<&davit_storage_copy::restore, "storage_copy.restore">()},
       nullptr},
      {DAVIT_STORAGE_MOVE,
       sizeof(davit_storage_move),
       job,
       {required<&davit_storage_move::observe, "storage_move.observe">(),
        required<&davit_storage_move::begin, "storage_move.begin">(),
        required<&davit_storage_move::load, "storage_move.load">(),
        required<&davit_storage_move::finish, "storage_move.finish">()},
       nullptr},
      {DAVIT_STORAGE_SCHEMA,
       sizeof(davit_storage_schema),
       job,
       {required<&davit_storage_schema::migrate, "storage_schema.migrate">()},
       nullptr},
      {DAVIT_STORAGE_ELECTION,
       sizeof(davit_storage_election),
       call,
       {required<&davit_storage_election::leads, "storage_election.leads">()},
       nullptr},
      {DAVIT_STORAGE_INTENTS,
       sizeof(davit_storage_intents),
       blocking_call,
       {required<&davit_storage_intents::open, "storage_intents.open">(),
        required<&davit_storage_intents::settle, "storage_intents.settle">()},
       nullptr},
      {DAVIT_KIND,
       sizeof(davit_kind),
       blocking_call,
       {required<&davit_kind::describe, "kind.describe", Place::anywhere>(),
        required<&davit_kind::identify, "kind.identify", Place::pool>(),
        required<&davit_kind::validate, "kind.validate", Place::pool>(),
        required<&davit_kind::classify, "kind.classify", Place::pool>(),
        required<&davit_kind::reconcile, "kind.reconcile", Place::pool>(),
        required<&davit_kind::attribute, "kind.attribute", Place::pool>(),
        optional<&davit_kind::delete_message, "kind.delete_message", Place::pool>(),
        optional<&davit_kind::to_report, "kind.to_report", Place::pool>(),
        optional<&davit_kind::from_report, "kind.from_report", Place::pool>(),
        optional<&davit_kind::apply_message, "kind.apply_message", Place::pool>()},
       &judge_kind},
      {DAVIT_KIND_NEEDS,
       sizeof(davit_kind_needs),
       call,
       {required<&davit_kind_needs::needs, "kind_needs.needs">()},
       nullptr},
      {DAVIT_CHANGE_SINK,
       sizeof(davit_change_sink),
       call,
       {required<&davit_change_sink::open, "change_sink.open">(),
        required<&davit_change_sink::begin, "change_sink.begin">(),
        required<&davit_change_sink::offer, "change_sink.offer">(),
        required<&davit_change_sink::bookmark, "change_sink.bookmark">(),
        required<&davit_change_sink::close, "change_sink.close">()},
       nullptr},
      {DAVIT_STATUS_SINK,
       sizeof(davit_status_sink),
       call,
       {required<&davit_status_sink::offer, "status_sink.offer">(),
        required<&davit_status_sink::advance, "status_sink.advance">(),
        required<&davit_status_sink::issue, "status_sink.issue">()},
       nullptr},
      {DAVIT_CLUSTER,
       sizeof(davit_cluster),
       call,
       {required<&davit_cluster::request, "cluster.request">(),
        required<&davit_cluster::watch, "cluster.watch">(),
        required<&davit_cluster::credit, "cluster.credit">(),
        required<&davit_cluster::cancel, "cluster.cancel">(),
        required<&davit_cluster::discover, "cluster.discover">(),
        required<&davit_cluster::identity, "cluster.identity">()},
       nullptr},
      {DAVIT_GATE, sizeof(davit_gate), call, {required<&davit_gate::wait, "gate.wait">()}, nullptr},
      {DAVIT_SECRETS,
       sizeof(davit_secrets),
       call,
       {required<&davit_secrets::resolve, "secrets.resolve">()},
       nullptr},
      {DAVIT_ACTUATOR,
       sizeof(davit_actuator),
       call,
       {required<&davit_actuator::reconcile, "actuator.reconcile">(),
        required<&davit_actuator::remove, "actuator.remove">()},
       nullptr},
      {DAVIT_RECORDS,
       sizeof(davit_records),
       call,
       {required<&davit_records::apply, "records.apply">(),
        required<&davit_records::get, "records.get">(),
        required<&davit_records::list, "records.list">(),
        required<&davit_records::watch, "records.watch">(),
        required<&davit_records::credit, "records.credit">(),
        required<&davit_records::cancel, "records.cancel">()},
       nullptr},
      {DAVIT_RIGHTS,
       sizeof(davit_rights),
       call,
       {required<&davit_rights::document, "rights.document">()},
       nullptr}};
}

}  // namespace

const std::vector<Contract>& contracts() {
  static const std::vector<Contract> all = table();
  return all;
}

const Contract* contract_of(std::string_view id) {
  const auto& all = contracts();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Contract& c) { return c.id == id; });
  return found == all.end() ? nullptr : &*found;
}

AnySlot slot_in(const void* table, const Slot& slot) {
  AnySlot out = nullptr;
  if (*static_cast<const uint32_t*>(table) >= slot.offset + sizeof out)
    std::memcpy(&out, static_cast<const char*>(table) + slot.offset, sizeof out);
  return out;
}

Result<> judge(const Contract& contract, davit_instance* self, const void* table) {
  const std::string its = "its table of " + std::string(contract.id) + ": ";
  const uint32_t size = *static_cast<const uint32_t*>(table);
  for (const Slot& slot : contract.slots) {
    if (!slot.required || slot_in(table, slot) != nullptr) continue;
    return lacks(its + "the slot " + slot.name +
                 (size < slot.offset + sizeof(AnySlot)
                      ? " is missing: struct_size is " + std::to_string(size) + ", not " +
                            std::to_string(contract.size)
                      : " is NULL"));
  }
  if (contract.judge == nullptr) return {};
  try {
    auto r = contract.judge(self, table);
    return r.ok() ? r : lacks(its + r.error().message);
  } catch (const std::exception& e) {
    return lacks(its + "threw an exception through the ABI: " + e.what());
  } catch (...) {
    return lacks(its + "threw an exception through the ABI");
  }
}

}  // namespace davit::host
