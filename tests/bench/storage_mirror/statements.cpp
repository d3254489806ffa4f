#include "statements.hpp"

#include <algorithm>
#include <set>

namespace davit::storage_mirror {
namespace {

constexpr const char* tables = R"sql(
CREATE TABLE IF NOT EXISTS regions (id bigserial PRIMARY KEY, name text NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS clusters (
  region_id bigint PRIMARY KEY, last_heartbeat_at bigint NOT NULL);
CREATE TABLE IF NOT EXISTS workspaces (id text PRIMARY KEY, k8s_namespace text NOT NULL);
CREATE TABLE IF NOT EXISTS environments (id text PRIMARY KEY, slug text NOT NULL);
CREATE TABLE IF NOT EXISTS repo_connections (app_id text PRIMARY KEY, full_name text NOT NULL);
CREATE TABLE IF NOT EXISTS deployments (
  region text NOT NULL, id text NOT NULL, ns text NOT NULL, k8s_name text NOT NULL,
  workspace_id text NOT NULL, environment_id text NOT NULL, app_id text NOT NULL,
  payload bytea NOT NULL,
  PRIMARY KEY (region, id));
CREATE INDEX IF NOT EXISTS deployments_name ON deployments (region, k8s_name);
CREATE TABLE IF NOT EXISTS topology (
  deployment_id text NOT NULL, region_id bigint NOT NULL, version bigint NOT NULL,
  desired_status text NOT NULL, live boolean NOT NULL, updated_at bigint NOT NULL,
  PRIMARY KEY (deployment_id, region_id), UNIQUE (region_id, version));
CREATE TABLE IF NOT EXISTS others (
  kind text NOT NULL, region_id bigint NOT NULL, id text NOT NULL, version bigint NOT NULL,
  desired_status text NOT NULL, live boolean NOT NULL, updated_at bigint NOT NULL,
  ns text NOT NULL, k8s_name text NOT NULL, payload bytea NOT NULL,
  PRIMARY KEY (kind, region_id, id), UNIQUE (kind, region_id, version));
CREATE TABLE IF NOT EXISTS instances (
  id text NOT NULL UNIQUE, deployment_id text NOT NULL, region_id bigint NOT NULL,
  k8s_name text NOT NULL, address text NOT NULL, cpu bigint NOT NULL, memory bigint NOT NULL,
  status text NOT NULL,
  PRIMARY KEY (k8s_name, region_id));
CREATE INDEX IF NOT EXISTS instances_deployment ON instances (deployment_id, region_id);
INSERT INTO workspaces VALUES ('ws', 'bench') ON CONFLICT DO NOTHING;
INSERT INTO environments VALUES ('env', 'production') ON CONFLICT DO NOTHING;
)sql";

const std::string joined = R"sql(
SELECT t.version, t.live, d.id, d.ns, d.k8s_name, t.desired_status, t.updated_at, d.payload,
       w.k8s_namespace, r.name, e.slug, c.full_name
FROM topology t
JOIN regions r ON r.id = t.region_id
JOIN deployments d ON d.region = r.name AND d.id = t.deployment_id
JOIN workspaces w ON w.id = d.workspace_id
JOIN environments e ON e.id = d.environment_id
LEFT JOIN repo_connections c ON c.app_id = d.app_id
WHERE t.region_id = $1 )sql";
const std::string plain = R"sql(
SELECT version, live, id, ns, k8s_name, desired_status, updated_at, payload FROM others
WHERE kind = $1 AND region_id = $2 )sql";

constexpr std::string_view deployment = "deployment";
// Of one INSERT: what PostgreSQL still parses in a moment.
constexpr size_t records_per_insert = 250;

void show(const pqxx::result& rows, const Key& of, const storage::VisitRecord& visit) {
  for (const auto& row : rows) {
    Record r;
    r.version = Version(row[0].as<uint64_t>());
    r.live = row[1].as<bool>();
    r.key = {of.kind, of.region, row[2].c_str()};
    r.ns = row[3].c_str();
    r.name = row[4].c_str();
    r.state = row[5].c_str();
    r.committed_at_unix_ms = row[6].as<int64_t>();
    r.payload = pqxx::binarystring(row[7]).str();
    if (!visit(r)) return;
  }
}

// The rows of an INSERT, quoted by whom it is for.
class Rows {
 public:
  explicit Rows(pqxx::connection& connection) : connection_(connection) {}
  template <class... T>
  void add(const T&... values) {
    text_ += text_.empty() ? "(" : ", (";
    bool first = true;
    ((text_ += std::exchange(first, false) ? "" : ", ", text_ += connection_.quote(values)), ...);
    text_ += ')';
  }
  bool empty() const { return text_.empty(); }
  std::string insert(const std::string& into, const std::string& conflict) const {
    return "INSERT INTO " + into + " VALUES " + text_ + " ON CONFLICT " + conflict;
  }

 private:
  pqxx::connection& connection_;
  std::string text_;
};

}  // namespace

void make_tables(pqxx::connection& connection) {
  pqxx::work work(connection);
  work.exec(tables);
  work.commit();
}

uint64_t newest(pqxx::connection& connection) {
  pqxx::nontransaction now(connection);
  return now
      .exec1(
          "SELECT greatest((SELECT max(version) FROM topology), (SELECT max(version) FROM others), "
          "0)")[0]
      .as<uint64_t>();
}

int64_t Statements::region_of(const std::string& name) {
  if (const auto known = regions_.find(name); known != regions_.end()) return known->second;
  pqxx::nontransaction now(connection_);
  const auto row = now.exec_params("SELECT id FROM regions WHERE name = $1", name);
  return row.empty() ? 0 : regions_.emplace(name, row[0][0].as<int64_t>()).first->second;
}

int64_t Statements::made_region(const std::string& name) {
  if (const int64_t known = region_of(name)) return known;
  pqxx::nontransaction(connection_)
      .exec_params("INSERT INTO regions (name) VALUES ($1) ON CONFLICT DO NOTHING", name);
  return region_of(name);
}

std::pair<Version, bool> Statements::page(const ReadRequest& q, const storage::VisitRecord& visit) {
  const int64_t region = region_of(q.scope.region);
  pqxx::nontransaction now(connection_);
  const auto rows = q.scope.kind == deployment
                        ? now.exec_params(joined + "AND t.version > $2 ORDER BY t.version LIMIT $3",
                                          region, q.cursor.version.value(), q.limit)
                        : now.exec_params(plain + "AND version > $3 ORDER BY version LIMIT $4",
                                          q.scope.kind, region, q.cursor.version.value(), q.limit);
  std::pair<Version, bool> out{q.cursor.version, rows.size() == q.limit};
  show(rows, {q.scope.kind, q.scope.region, {}}, [&](const Record& r) {
    out.first = r.version;
    out.second = visit(r) && out.second;
    return true;
  });
  return out;
}

void Statements::get(const Query& q, const storage::VisitRecord& visit) {
  const int64_t region = region_of(q.key.region);
  pqxx::nontransaction now(connection_);
  if (!q.key.id.empty()) {
    show(q.key.kind == deployment
             ? now.exec_params(joined + "AND t.deployment_id = $2", region, q.key.id)
             : now.exec_params(plain + "AND id = $3", q.key.kind, region, q.key.id),
         q.key, visit);
    return;
  }
  const auto rows =
      q.key.kind == deployment
          ? now.exec_params("SELECT id FROM deployments WHERE region = $1 AND k8s_name = $2",
                            q.key.region, q.name)
          : now.exec_params(
                "SELECT id FROM others WHERE kind = $1 AND region_id = $2 AND "
                "k8s_name = $3",
                q.key.kind, region, q.name);
  for (const auto& row : rows) {
    Record found;
    found.key = {q.key.kind, q.key.region, row[0].c_str()};
    if (!visit(found)) return;
  }
}

void Statements::write(const std::vector<Record>& records) {
  static const std::string version =
      "version = excluded.version, desired_status = excluded.desired_status, live = "
      "excluded.live, updated_at = excluded.updated_at";
  std::vector<std::string> statements;
  for (size_t at = 0; at < records.size(); at += records_per_insert) {
    Rows deployments(connection_), topology(connection_), others(connection_);
    for (size_t i = at; i < std::min(at + records_per_insert, records.size()); ++i) {
      const Record& r = records[i];
      const pqxx::binarystring payload(r.payload);
      const int64_t region = made_region(r.key.region);
      if (r.key.kind == deployment) {
        deployments.add(r.key.region, r.key.id, r.ns, r.name, "ws", "env", "app", payload);
        topology.add(r.key.id, region, r.version.value(), r.state, r.live, r.committed_at_unix_ms);
      } else {
        others.add(r.key.kind, region, r.key.id, r.version.value(), r.state, r.live,
                   r.committed_at_unix_ms, r.ns, r.name, payload);
      }
    }
    if (!deployments.empty()) {
      statements.push_back(
          "WITH first AS (" +
          deployments.insert("deployments",
                             "(region, id) DO UPDATE SET payload = excluded.payload") +
          ") " +
          topology.insert("topology", "(deployment_id, region_id) DO UPDATE SET " + version));
    }
    if (!others.empty()) {
      statements.push_back(others.insert(
          "others", "(kind, region_id, id) DO UPDATE SET payload = excluded.payload, " + version));
    }
  }
  if (statements.size() == 1) {
    pqxx::nontransaction(connection_).exec(statements.front());
    return;
  }
  pqxx::work work(connection_);
  for (const auto& text : statements) work.exec(text);
  work.commit();
}

void Statements::report(const Status& status) {
  int64_t region = 0;
  {
    pqxx::nontransaction now(connection_);
    const auto row = now.exec_params("SELECT id FROM regions WHERE name = $1", status.key.region);
    if (!row.empty()) region = row[0][0].as<int64_t>();
  }
  std::set<std::string> reported;
  if (!status.gone) {
    for (const auto& child : status.children) reported.insert(child.name);
  }
  pqxx::work work(connection_);
  const auto stored = work.exec_params(
      "SELECT id, k8s_name, address, cpu, memory, status FROM instances WHERE deployment_id = $1 "
      "AND region_id = $2",
      status.key.id, region);
  for (const auto& row : stored) {
    if (reported.contains(row[1].c_str())) continue;
    work.exec_params("DELETE FROM instances WHERE k8s_name = $1 AND region_id = $2", row[1].c_str(),
                     region);
  }
  for (const auto& child : status.children) {
    if (!reported.contains(child.name)) continue;
    work.exec_params(
        "INSERT INTO instances VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (k8s_name, "
        "region_id) DO UPDATE SET address = excluded.address, cpu = excluded.cpu, memory = "
        "excluded.memory, status = excluded.status",
        status.key.region + "/" + child.name, status.key.id, region, child.name, child.address,
        child.cpu_millicores, child.memory_mib, child.status);
  }
  work.commit();
}

void Statements::heartbeat(const Progress& progress) {
  pqxx::nontransaction now(connection_);
  now.exec_params("INSERT INTO regions (name) VALUES ($1) ON CONFLICT DO NOTHING", progress.region);
  const auto region =
      now.exec_params1("SELECT id FROM regions WHERE name = $1", progress.region)[0].as<int64_t>();
  now.exec_params(
      "INSERT INTO clusters VALUES ($1, $2) ON CONFLICT (region_id) DO UPDATE SET "
      "last_heartbeat_at = excluded.last_heartbeat_at",
      region, progress.seen_at_unix_ms);
}

}  // namespace davit::storage_mirror
