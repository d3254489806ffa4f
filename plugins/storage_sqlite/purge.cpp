#include "purge.hpp"

namespace davit::storage_sqlite {
namespace {

constexpr int64_t tombstones_at_once = 2'000;  // some tens of milliseconds

}  // namespace

bool purge_some(Connection& c, Version through) {
  Version head, mark;
  {
    Statement s = c.query("SELECT head, purged_through FROM store");
    if (s.step()) head = Version(s.number(0)), mark = Version(s.number(1));
  }
  Version upto = std::min(through, head);
  bool more = false;
  {
    Statement s = c.query(
        "SELECT version FROM records WHERE live = 0 AND version <= ? ORDER BY version LIMIT 1 "
        "OFFSET ?",
        upto, tombstones_at_once - 1);
    if (s.step()) {
      more = Version(s.number(0)) < upto;
      upto = Version(s.number(0));
    }
  }
  if (upto <= mark) return false;
  c.run(
      "DELETE FROM children WHERE (kind, region, id) IN "
      "(SELECT kind, region, id FROM records WHERE live = 0 AND version <= ?)",
      upto);
  c.run(
      "DELETE FROM statuses WHERE (kind, region, id) IN "
      "(SELECT kind, region, id FROM records WHERE live = 0 AND version <= ?)",
      upto);
  c.run("DELETE FROM records WHERE live = 0 AND version <= ?", upto);
  c.run("UPDATE store SET purged_through = ?", upto);
  return more && !c.failed();
}

}  // namespace davit::storage_sqlite
