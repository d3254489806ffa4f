#include "purge.hpp"

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

constexpr uint64_t tombstones_at_once = 2'000;  // some tens of milliseconds

// In the order of the keys, as commits lock them.
constexpr Statement lock_tombstones = {
    "lock_tombstones",
    "SELECT r.kind, r.region, r.id, r.version FROM records r JOIN (SELECT kind, region, id FROM "
    "records WHERE NOT live AND version <= $1::bigint ORDER BY version LIMIT $2::bigint) AS t ON "
    "t.kind = r.kind AND t.region = r.region AND t.id = r.id WHERE NOT r.live AND r.version <= "
    "$1::bigint ORDER BY r.kind, r.region, r.id FOR UPDATE OF r"};

const std::string tombstone_rows =
    "unnest($1::text[], $2::text[], $3::text[]) AS k(kind, region, id)";
const std::string of_tombstone = "t.kind = k.kind AND t.region = k.region AND t.id = k.id";
const std::string lock_their_statuses_sql = "SELECT 1 FROM statuses t JOIN " + tombstone_rows +
                                            " ON " + of_tombstone +
                                            " ORDER BY t.kind, t.region, t.id FOR UPDATE OF t";
const std::string lock_their_statuses_now_sql = lock_their_statuses_sql + " NOWAIT";
const std::string purge_children_sql =
    "DELETE FROM children t USING " + tombstone_rows + " WHERE " + of_tombstone;
const std::string purge_statuses_sql =
    "DELETE FROM statuses t USING " + tombstone_rows + " WHERE " + of_tombstone;
const std::string purge_records_sql =
    "DELETE FROM records t USING " + tombstone_rows + " WHERE " + of_tombstone;
const Statement lock_their_statuses = {"lock_their_statuses", lock_their_statuses_sql.c_str()};
const Statement lock_their_statuses_now = {"lock_their_statuses_now",
                                           lock_their_statuses_now_sql.c_str()};
const Statement purge_children = {"purge_children", purge_children_sql.c_str()};
const Statement purge_statuses = {"purge_statuses", purge_statuses_sql.c_str()};
const Statement purge_records = {"purge_records", purge_records_sql.c_str()};

}  // namespace

void PurgeBatch::prepare(Session& session, const Head& head) {
  through_ = std::min(through_, head.head.version);
  locked_upto_ = {};
  const auto rows =
      session.ask(lock_tombstones, {to_string(through_), std::to_string(tombstones_at_once)});
  ArrayText kinds, regions, ids;
  for (const auto& row : rows) {
    kinds.add(row[0].c_str());
    regions.add(row[1].c_str());
    ids.add(row[2].c_str());
    locked_upto_ = std::max(locked_upto_, Version(to_number(row[3].c_str())));
  }
  full_ = static_cast<uint64_t>(rows.size()) >= tombstones_at_once;
  keys_ = {kinds.take(), regions.take(), ids.take()};
  session.ask(lock_their_statuses, keys_);
}

// The tombstones are locked, so they are what they were. A status may have come since.
bool PurgeBatch::carry_out(Session& session, Head& head) {
  const bool more = full_ && locked_upto_ < through_;
  const Version upto = more ? locked_upto_ : through_;
  if (upto <= head.purged_through) return false;
  session.ask_now(lock_their_statuses_now, keys_);
  for (const Statement* step : {&purge_children, &purge_statuses, &purge_records})
    session.ask(*step, keys_);
  head.purged_through = upto;
  return more;
}

}  // namespace davit::storage_postgres
