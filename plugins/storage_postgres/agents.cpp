#include "agents.hpp"

#include <map>

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

// The agent's row comes first in every transaction, so two of them wait for each other in turn.
constexpr Statement upsert_agent = {
    "upsert_agent",
    "INSERT INTO agents (region, agent, software, epoch, seen_at_unix_ms) VALUES ($1, $2, $3, "
    "$4::bigint, $5::bigint) ON CONFLICT (region, agent) DO UPDATE SET software = "
    "excluded.software, epoch = excluded.epoch, seen_at_unix_ms = excluded.seen_at_unix_ms"};
constexpr Statement upsert_kinds = {
    "upsert_agent_kinds",
    "INSERT INTO agent_kinds (region, agent, ordinal, kind, incarnation, applied_version) SELECT "
    "$1, "
    "$2, w.* FROM unnest($3::integer[], $4::text[], $5::numeric[], $6::bigint[]) AS w ON CONFLICT "
    "(region, agent, ordinal) DO UPDATE SET kind = excluded.kind, incarnation = "
    "excluded.incarnation, applied_version = excluded.applied_version"};
constexpr Statement cut_kinds = {
    "cut_agent_kinds",
    "DELETE FROM agent_kinds WHERE region = $1 AND agent = $2 AND ordinal > $3::integer"};
constexpr Statement delete_issues = {"delete_agent_issues",
                                     "DELETE FROM agent_issues WHERE region = $1 AND agent = $2"};
constexpr Statement insert_issues = {
    "insert_agent_issues",
    "INSERT INTO agent_issues (region, agent, ordinal, kind, id, ns, name, version, incarnation, "
    "condition, reason) SELECT $1, $2, w.* FROM unnest($3::integer[], $4::text[], $5::text[], "
    "$6::text[], $7::text[], $8::bigint[], $9::numeric[], $10::text[], $11::text[]) AS w"};
constexpr Statement delete_agent = {
    "delete_agent",
    "DELETE FROM agents WHERE region = $1 AND agent = $2 AND seen_at_unix_ms <= $3::bigint"};

// $1: the region, empty for any. $2 and $3: above this agent. $4: how many.
const std::string agents_page =
    "(SELECT * FROM agents WHERE ($1 = '' OR region = $1) AND (region, agent) > ($2, $3) ORDER BY "
    "region, agent LIMIT $4::bigint) AS p";
const std::string agents_sql = "SELECT region, agent, software, epoch, seen_at_unix_ms FROM " +
                               agents_page + " ORDER BY region, agent";
const std::string kinds_sql =
    "SELECT region, agent, k.kind, k.incarnation, k.applied_version FROM " + agents_page +
    " JOIN agent_kinds k USING (region, agent) ORDER BY region, agent, k.ordinal";
const std::string issues_sql =
    "SELECT region, agent, i.kind, i.id, i.ns, i.name, i.version, i.condition, i.reason, "
    "i.incarnation FROM " +
    agents_page + " JOIN agent_issues i USING (region, agent) ORDER BY region, agent, i.ordinal";
const Statement page_of_agents = {"page_of_agents", agents_sql.c_str()};
const Statement page_of_kinds = {"page_of_agent_kinds", kinds_sql.c_str()};
const Statement page_of_issues = {"page_of_agent_issues", issues_sql.c_str()};

void store_kinds(Session& session, const Progress& p) {
  ArrayText ordinals, kinds, incarnations, versions;
  int64_t ordinal = 0;
  for (const auto& k : p.kinds) {
    ordinals.add_number(++ordinal);
    kinds.add(k.kind);
    incarnations.add_number(k.applied.incarnation);
    versions.add_number(k.applied.version);
  }
  session.ask(cut_kinds, {p.region, p.agent, std::to_string(ordinal)});
  if (ordinal == 0) return;
  session.ask(upsert_kinds, {p.region, p.agent, ordinals.take(), kinds.take(), incarnations.take(),
                             versions.take()});
}

void store_issues(Session& session, const Progress& p) {
  session.ask(delete_issues, {p.region, p.agent});
  if (p.issues.empty()) return;
  ArrayText ordinals, kinds, ids, spaces, names, versions, incarnations, conditions, reasons;
  int64_t ordinal = 0;
  for (const auto& i : p.issues) {
    ordinals.add_number(++ordinal);
    kinds.add(i.kind);
    ids.add(i.id);
    spaces.add(i.ns);
    names.add(i.name);
    versions.add_number(i.version);
    incarnations.add_number(i.incarnation);
    conditions.add(i.condition);
    reasons.add(i.reason);
  }
  session.ask(insert_issues, {p.region, p.agent, ordinals.take(), kinds.take(), ids.take(),
                              spaces.take(), names.take(), versions.take(), incarnations.take(),
                              conditions.take(), reasons.take()});
}

}  // namespace

void store_progress(Session& session, const Progress& p) {
  session.ask(upsert_agent, {p.region, p.agent, p.software, to_string(p.epoch),
                             std::to_string(p.seen_at_unix_ms)});
  store_kinds(session, p);
  store_issues(session, p);
}

void forget_agent(Session& session, const storage::Maintain::ForgetAgent& agent) {
  const auto gone =
      session.ask(delete_agent, {agent.region, agent.agent, std::to_string(agent.seen_at_unix_ms)});
  if (gone.affected_rows() == 0) return;
  session.ask(cut_kinds, {agent.region, agent.agent, "0"});
  session.ask(delete_issues, {agent.region, agent.agent});
}

std::vector<Progress> read_agents(Session& session, const AgentRead& q) {
  const Values values = {q.region, q.after_region, q.after_agent,
                         std::to_string(uint64_t{q.limit} + 1)};
  std::vector<Progress> out;
  std::map<std::pair<std::string, std::string>, size_t> place;
  for (const auto& row : session.ask(page_of_agents, values)) {
    place[{row[0].c_str(), row[1].c_str()}] = out.size();
    out.push_back({row[0].c_str(),
                   row[1].c_str(),
                   row[2].c_str(),
                   Epoch(to_number(row[3].c_str())),
                   {},
                   {},
                   to_integer(row[4].c_str())});
  }
  for (const auto& row : session.ask(page_of_kinds, values)) {
    out[place.at({row[0].c_str(), row[1].c_str()})].kinds.push_back(
        {row[2].c_str(),
         {Incarnation(to_number(row[3].c_str())), Version(to_number(row[4].c_str()))}});
  }
  for (const auto& row : session.ask(page_of_issues, values)) {
    out[place.at({row[0].c_str(), row[1].c_str()})].issues.push_back(
        {row[2].c_str(), row[3].c_str(), row[4].c_str(), row[5].c_str(),
         Version(to_number(row[6].c_str())), row[7].c_str(), row[8].c_str(),
         Incarnation(to_number(row[9].c_str()))});
  }
  return out;
}

}  // namespace davit::storage_postgres
