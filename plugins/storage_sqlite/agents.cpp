#include "agents.hpp"

namespace davit::storage_sqlite {

using V = std::string_view;

namespace {

// Deletes what the agent reported about kinds and objects.
void clear(Connection& c, V region, V agent) {
  c.run("DELETE FROM agent_kinds WHERE region = ? AND agent = ?", region, agent);
  c.run("DELETE FROM agent_issues WHERE region = ? AND agent = ?", region, agent);
}

}  // namespace

void store_progress(Connection& c, const Progress& p) {
  const V region = p.region, agent = p.agent;
  c.run(
      "INSERT OR REPLACE INTO agents (region, agent, software, epoch, seen_at_unix_ms) VALUES (?, "
      "?, ?, ?, ?)",
      region, agent, V(p.software), p.epoch, p.seen_at_unix_ms);
  clear(c, region, agent);
  int64_t ordinal = 0;
  for (const auto& k : p.kinds) {
    c.run(
        "INSERT INTO agent_kinds (region, agent, ordinal, kind, incarnation, applied_version) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        region, agent, ++ordinal, V(k.kind), k.applied.incarnation, k.applied.version);
  }
  ordinal = 0;
  for (const auto& i : p.issues) {
    c.run(
        "INSERT INTO agent_issues (region, agent, ordinal, kind, id, ns, name, version, "
        "incarnation, condition, reason) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        region, agent, ++ordinal, V(i.kind), V(i.id), V(i.ns), V(i.name), i.version, i.incarnation,
        V(i.condition), V(i.reason));
  }
}

void forget_agent(Connection& c, const storage::Maintain::ForgetAgent& agent) {
  const V region = agent.region, name = agent.agent;
  {
    Statement later =
        c.query("SELECT 1 FROM agents WHERE region = ? AND agent = ? AND seen_at_unix_ms > ?",
                region, name, agent.seen_at_unix_ms);
    if (later.step()) return;
  }
  clear(c, region, name);
  c.run("DELETE FROM agents WHERE region = ? AND agent = ?", region, name);
}

bool read_agents(Connection& c, const AgentRead& q, const storage::VisitProgress& visit) {
  if (q.limit == 0) c.fail({Code::invalid_argument, "a page has at least one agent", "limit"});
  Statement row = c.query(
      "SELECT region, agent, software, epoch, seen_at_unix_ms FROM agents WHERE (?1 = '' OR region "
      "= ?1) AND (region, agent) > (?2, ?3) ORDER BY region, agent LIMIT ?4",
      V(q.region), V(q.after_region), V(q.after_agent), int64_t{q.limit} + 1);
  for (uint32_t count = 0; row.step(); ++count) {
    if (count == q.limit) return true;
    Progress p{std::string(row.text(0)),
               std::string(row.text(1)),
               std::string(row.text(2)),
               Epoch(row.number(3)),
               {},
               {},
               row.integer(4)};
    {
      Statement k = c.query(
          "SELECT kind, incarnation, applied_version FROM agent_kinds WHERE region = ? AND agent = "
          "? ORDER BY ordinal",
          V(p.region), V(p.agent));
      while (k.step()) {
        p.kinds.push_back(
            {std::string(k.text(0)), {Incarnation(k.number(1)), Version(k.number(2))}});
      }
    }
    {
      Statement i = c.query(
          "SELECT kind, id, ns, name, version, condition, reason, incarnation FROM agent_issues "
          "WHERE region = ? AND agent = ? ORDER BY ordinal",
          V(p.region), V(p.agent));
      while (i.step()) {
        p.issues.push_back({std::string(i.text(0)), std::string(i.text(1)), std::string(i.text(2)),
                            std::string(i.text(3)), Version(i.number(4)), std::string(i.text(5)),
                            std::string(i.text(6)), Incarnation(i.number(7))});
      }
    }
    if (!visit(p)) return true;
  }
  return false;
}

}  // namespace davit::storage_sqlite
