#include "davit/testing/contract.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <davit/abi/actuator.h>
#include <davit/abi/kind_needs.h>
#include <davit/abi/records_role.h>
#include <davit/abi/rights.h>
#include <davit/abi/secrets.h>
#include <davit/abi/storage_election.h>
#include <davit/abi/storage_intents.h>
#include <davit/abi/storage_move.h>
#include <davit/abi/storage_schema.h>

namespace davit::testing {
namespace {

struct Slot {
  const char* name;
  size_t offset;
};
// A role's table, and those of its slots that must not be NULL.
struct Table {
  std::string_view id;
  std::vector<Slot> needed;
};

#define SLOT(table, member) \
  { #member, offsetof(table, member) }

const std::vector<Table>& tables() {
  static const std::vector<Table> all = {
      {DAVIT_STORAGE,
       {SLOT(davit_storage, limits), SLOT(davit_storage, head), SLOT(davit_storage, read),
        SLOT(davit_storage, get), SLOT(davit_storage, commit), SLOT(davit_storage, report),
        SLOT(davit_storage, statuses), SLOT(davit_storage, progress), SLOT(davit_storage, agents),
        SLOT(davit_storage, maintain), SLOT(davit_storage, history)}},
      {DAVIT_STORAGE_COPY,
       {SLOT(davit_storage_copy, backup), SLOT(davit_storage_copy, verify),
        SLOT(davit_storage_copy, restore)}},
      {DAVIT_STORAGE_MOVE,
       {SLOT(davit_storage_move, observe), SLOT(davit_storage_move, begin),
        SLOT(davit_storage_move, load), SLOT(davit_storage_move, finish)}},
      {DAVIT_STORAGE_SCHEMA, {SLOT(davit_storage_schema, migrate)}},
      {DAVIT_STORAGE_ELECTION, {SLOT(davit_storage_election, leads)}},
      {DAVIT_STORAGE_INTENTS,
       {SLOT(davit_storage_intents, open), SLOT(davit_storage_intents, settle)}},
      {DAVIT_KIND,
       {SLOT(davit_kind, describe), SLOT(davit_kind, identify), SLOT(davit_kind, validate),
        SLOT(davit_kind, classify), SLOT(davit_kind, reconcile), SLOT(davit_kind, attribute)}},
      {DAVIT_KIND_NEEDS, {SLOT(davit_kind_needs, needs)}},
      {DAVIT_CHANGE_SINK,
       {SLOT(davit_change_sink, open), SLOT(davit_change_sink, begin),
        SLOT(davit_change_sink, offer), SLOT(davit_change_sink, bookmark),
        SLOT(davit_change_sink, close)}},
      {DAVIT_STATUS_SINK,
       {SLOT(davit_status_sink, offer), SLOT(davit_status_sink, advance),
        SLOT(davit_status_sink, issue)}},
      {DAVIT_CLUSTER,
       {SLOT(davit_cluster, request), SLOT(davit_cluster, watch), SLOT(davit_cluster, credit),
        SLOT(davit_cluster, cancel), SLOT(davit_cluster, discover), SLOT(davit_cluster, identity)}},
      {DAVIT_GATE, {SLOT(davit_gate, wait)}},
      {DAVIT_SECRETS, {SLOT(davit_secrets, resolve)}},
      {DAVIT_ACTUATOR, {SLOT(davit_actuator, reconcile), SLOT(davit_actuator, remove)}},
      {DAVIT_RECORDS,
       {SLOT(davit_records, apply), SLOT(davit_records, get), SLOT(davit_records, list),
        SLOT(davit_records, watch), SLOT(davit_records, credit), SLOT(davit_records, cancel)}},
      {DAVIT_RIGHTS, {SLOT(davit_rights, document)}}};
  return all;
}

#undef SLOT

using AnySlot = void (*)();

// Of a struct that begins with its size: which of the slots are missing or NULL.
std::vector<std::string> judge(const std::string& name, const void* at,
                               const std::vector<Slot>& needed) {
  std::vector<std::string> out;
  uint32_t has = 0;
  std::memcpy(&has, at, sizeof has);
  for (const Slot& slot : needed) {
    AnySlot function = nullptr;
    const size_t end = slot.offset + sizeof function;
    if (has < end) {
      out.push_back(name + " ends before its slot " + slot.name + ": struct_size is " +
                    std::to_string(has) + ", and must be at least " + std::to_string(end));
      continue;
    }
    std::memcpy(&function, static_cast<const char*>(at) + slot.offset, sizeof function);
    if (function == nullptr) out.push_back("the slot " + name + "." + slot.name + " is NULL");
  }
  return out;
}

}  // namespace

std::vector<std::string> faults(const davit_plugin* plugin, const Note* note) {
  if (plugin == nullptr) return {"the plugin's entry gives no davit_plugin"};
  auto out = judge("davit_plugin", plugin,
                   {{"create", offsetof(davit_plugin, create)},
                    {"destroy", offsetof(davit_plugin, destroy)},
                    {"query", offsetof(davit_plugin, query)}});
  if (note == nullptr) return out;
  const size_t dot = note->abi.find('.');
  const int minor = dot == std::string::npos ? -1 : std::atoi(note->abi.c_str() + dot + 1);
  if (minor > plugin->abi_minor) {
    out.push_back("the note names ABI " + note->abi + ", and davit_plugin.abi_minor is only " +
                  std::to_string(plugin->abi_minor));
  }
  return out;
}

std::vector<std::string> judged_roles() {
  std::vector<std::string> out;
  for (const Table& table : tables()) out.emplace_back(table.id);
  return out;
}

std::vector<std::string> faults(std::string_view role, const void* table) {
  const auto& all = tables();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Table& known) { return known.id == role; });
  if (found == all.end()) return {};
  if (table == nullptr) return {"query answers NULL for " + std::string(role)};
  return judge(std::string(role), table, found->needed);
}

}  // namespace davit::testing
