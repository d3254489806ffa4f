#include "invariants.hpp"

namespace davit::storage_sqlite {
namespace {

struct Rule {
  const char* broken;  // what is wrong if `rows` returns a row
  const char* rows;    // the first column names the faulty row
};

constexpr Rule rules[] = {
    {"the store's counters are missing", "SELECT 'store' WHERE (SELECT count(*) FROM store) <> 1"},
    {"a counter is out of order",
     "SELECT 'store' FROM store WHERE head < 0 OR status_head < 0 OR purged_through < 0 OR "
     "purged_through > head"},
    {"a record is above the head",
     "SELECT id FROM records WHERE version < 1 OR version > (SELECT head FROM store)"},
    {"a tombstone is below the purge mark",
     "SELECT id FROM records WHERE live = 0 AND version <= (SELECT purged_through FROM store)"},
    {"two live records have one name",
     "SELECT name FROM records WHERE live GROUP BY kind, region, ns, name HAVING count(*) > 1"},
    {"a live record has no name", "SELECT id FROM records WHERE live AND name = ''"},
    {"a status is above the head of statuses",
     "SELECT id FROM statuses WHERE status_version < 1 OR status_version > (SELECT status_head "
     "FROM "
     "store)"},
    {"a status is of no record",
     "SELECT s.id FROM statuses AS s LEFT JOIN records AS r USING (kind, region, id) WHERE "
     "r.version "
     "IS NULL"},
    {"a child is of no status",
     "SELECT c.id FROM children AS c LEFT JOIN statuses AS s USING (kind, region, id) WHERE "
     "s.status_version IS NULL"},
    {"what an agent said is of no agent",
     "SELECT k.agent FROM (SELECT region, agent FROM agent_kinds UNION SELECT region, agent FROM "
     "agent_issues) AS k LEFT JOIN agents AS a USING (region, agent) WHERE a.epoch IS NULL"},
    {"a request is answered with a version above the head",
     "SELECT request_id FROM requests WHERE first_version > (SELECT head FROM store)"},
    {"the history of incarnations is out of order",
     "SELECT number FROM incarnations AS i, store WHERE min(first_version, first_status_version) < "
     "1 OR first_version > head + 1 OR first_status_version > status_head + 1 OR EXISTS (SELECT 1 "
     "FROM incarnations AS j WHERE j.number < i.number AND (j.first_version > i.first_version OR "
     "j.first_status_version > i.first_status_version))"},
};

}  // namespace

std::optional<std::string> find_fault(Connection& c) {
  {
    Statement s = c.query("PRAGMA integrity_check(1)");
    if (s.step() && s.text(0) != "ok") return std::string(s.text(0));
  }
  for (const Rule& rule : rules) {
    if (c.failed()) break;
    Statement s = c.query(rule.rows);
    if (s.step()) return std::string(rule.broken) + " (" + std::string(s.text(0)) + ")";
  }
  if (!c.failed()) return std::nullopt;
  Error error = c.take_error();
  // Cancelling, or a deadline, says nothing about the file.
  if (error.code != Code::cancelled && error.code != Code::deadline_exceeded) return error.message;
  c.fail(std::move(error));
  return std::nullopt;
}

}  // namespace davit::storage_sqlite
