#include "purge.hpp"

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

constexpr uint64_t tombstones_at_once = 2'000;  // some tens of milliseconds

// $1: up to this version. $2: so many.
const std::string find_tombstones_sql =
    "SELECT kind, region, id, version FROM records WHERE NOT live AND version <= $1::bigint ORDER "
    "BY version LIMIT $2::bigint";
// In the order of the keys, as commits lock them.
const std::string lock_tombstones_sql = "SELECT r.kind, r.region, r.id FROM records r JOIN (" +
                                        find_tombstones_sql +
                                        ") AS t USING (kind, region, id) ORDER BY r.kind, "
                                        "r.region, r.id FOR UPDATE OF r";
const Statement find_tombstones = {"find_tombstones", find_tombstones_sql.c_str()};
const Statement lock_tombstones = {"lock_tombstones", lock_tombstones_sql.c_str()};

const std::string tombstone_rows =
    "unnest($1::text[], $2::text[], $3::text[]) AS k(kind, region, id)";
const std::string of_tombstone = "t.kind = k.kind AND t.region = k.region AND t.id = k.id";
const std::string lock_their_statuses_sql = "SELECT 1 FROM statuses t JOIN " + tombstone_rows +
                                            " ON " + of_tombstone +
                                            " ORDER BY t.kind, t.region, t.id FOR UPDATE OF t";
const std::string purge_children_sql =
    "DELETE FROM children t USING " + tombstone_rows + " WHERE " + of_tombstone;
const std::string purge_statuses_sql =
    "DELETE FROM statuses t USING " + tombstone_rows + " WHERE " + of_tombstone;
const std::string purge_records_sql =
    "DELETE FROM records t USING " + tombstone_rows + " WHERE " + of_tombstone;
const Statement lock_their_statuses = {"lock_their_statuses", lock_their_statuses_sql.c_str()};
const Statement purge_children = {"purge_children", purge_children_sql.c_str()};
const Statement purge_statuses = {"purge_statuses", purge_statuses_sql.c_str()};
const Statement purge_records = {"purge_records", purge_records_sql.c_str()};

Values keys_of(const pqxx::result& rows) {
  ArrayText kinds, regions, ids;
  for (const auto& row : rows) {
    kinds.add(row[0].c_str());
    regions.add(row[1].c_str());
    ids.add(row[2].c_str());
  }
  return {kinds.take(), regions.take(), ids.take()};
}

Values bounds(Version through) {
  return {bounded_number(through), std::to_string(tombstones_at_once)};
}

}  // namespace

void PurgeBatch::wait(Session& session) const {
  session.wait_to_write("records, statuses, children");
  session.ask(lock_their_statuses, keys_of(session.ask(lock_tombstones, bounds(through_))));
}

bool PurgeBatch::carry_out(Session& session, Head& head) const {
  const Version through = std::min(through_, head.head.version);
  if (through <= head.purged_through) return false;
  const auto rows = session.ask(find_tombstones, bounds(through));
  const auto count = static_cast<uint64_t>(rows.size());
  const Version last =
      count == 0 ? Version() : Version(to_number(rows[rows.size() - 1][3].c_str()));
  const bool more = count >= tombstones_at_once && last < through;
  const Values keys = keys_of(rows);
  for (const Statement* step : {&purge_children, &purge_statuses, &purge_records})
    session.ask(*step, keys);
  head.purged_through = more ? last : through;
  return more;
}

}  // namespace davit::storage_postgres
