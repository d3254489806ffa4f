#include "schema.hpp"

#include <map>
#include <set>

#include "presence.hpp"
#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

constexpr const char* how = "run `davit storage migrate CONFIG...`";

// One line for each thing that the code relies on: a column with its type and whether it may be
// NULL, and a unique index with its columns. The steps write down what it was, so that a server can
// say what is different.
constexpr const char* shape_sql = R"sql(
SELECT format('column %s.%s %s%s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
         CASE WHEN a.attnotnull THEN ' not null' ELSE '' END)
  || CASE WHEN a.attcollation = 0 OR l.collname = 'default' THEN '' ELSE ' collate ' || l.collname
     END
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation l ON l.oid = a.attcollation
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p')
UNION ALL
SELECT format('unique index %s on %s (%s)%s', i.relname, c.relname,
         (SELECT string_agg(a.attname, ', ' ORDER BY k.place)
          FROM unnest(x.indkey::int2[]) WITH ORDINALITY AS k(number, place)
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.number),
         CASE WHEN x.indpred IS NULL THEN '' ELSE ' of some rows' END)
FROM pg_index x
JOIN pg_class i ON i.oid = x.indexrelid
JOIN pg_class c ON c.oid = x.indrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND x.indisunique AND x.indisvalid
ORDER BY 1)sql";

// A column that somebody added and that every row needs. Tables of others may be there: a role of
// the schema's name makes its tables here, unless it names another schema.
constexpr const char* demanding_columns_sql = R"sql(
SELECT format('column %s.%s', c.relname, a.attname)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND a.attnotnull AND NOT a.atthasdef
  AND a.attidentity = ''
  AND EXISTS (SELECT FROM schema_steps, unnest(shape) AS line
              WHERE starts_with(line, format('column %s.', c.relname))))sql";

constexpr const char* missing_rights_sql = R"sql(
SELECT c.relname, p.privilege
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS p(privilege)
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_steps'
  AND EXISTS (SELECT FROM schema_steps, unnest(shape) AS line
              WHERE starts_with(line, format('column %s.', c.relname)))
  AND NOT has_table_privilege(c.oid, p.privilege)
ORDER BY 1, 2 LIMIT 1)sql";

Error refused(std::string message) {
  return {Code::failed_precondition, std::move(message)};
}

// "column records.payload bytea not null" -> "column records.payload"
std::string subject_of(const std::string& line) {
  const size_t kind = line.starts_with("unique index ") ? std::string("unique index ").size()
                                                        : std::string("column ").size();
  return line.substr(0, line.find(' ', kind));
}

// "column records.payload bytea not null", "unique index records_key on records (...)" -> "records"
std::string table_of(const std::string& line) {
  const bool column = line.starts_with("column ");
  const size_t at = column ? std::string("column ").size() : line.find(" on ") + 4;
  return line.substr(at, line.find(column ? '.' : ' ', at) - at);
}

std::vector<std::string> first_column(const pqxx::result& rows) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.emplace_back(row[0].c_str());
  return out;
}

}  // namespace

SchemaState Schema::look(Session& session) const {
  SchemaState out;
  const std::string name = quoted_text(name_);
  const auto row = session.script(
      "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE "
      "n.nspname = " +
      name +
      "), EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = "
      "c.relnamespace WHERE n.nspname = " +
      name + " AND c.relname = 'schema_steps')")[0];
  out.exists = row[0].as<bool>();
  out.ours = row[1].as<bool>();
  // The role may not even see what is in it.
  if (out.ours)
    out.version =
        static_cast<int>(to_integer(session
                                        .script("SELECT coalesce(max(version), 0) FROM " +
                                                quoted_name(name_) + ".schema_steps")[0][0]
                                        .c_str()));
  return out;
}

Result<> Schema::judge(const SchemaState& state) const {
  const std::string it = "schema " + quoted_name(name_);
  if (state.exists && !state.ours) {
    return refused(it + " has tables of something else: choose another one (key schema)");
  }
  if (state.version > newest()) return refused(misfit(it, state.version, newest()));
  return {};
}

Result<> Schema::check(Session& session) const {
  const std::string it = "schema " + quoted_name(name_);
  const SchemaState state = look(session);
  if (auto r = judge(state); !r.ok()) return r;
  if (!state.exists) return refused(it + " does not exist: " + how);
  if (state.version < newest()) return refused(misfit(it, state.version, newest()));
  if (auto r = rights(session); !r.ok()) return r;
  return altered(session);
}

Result<> Schema::rights(Session& session) const {
  const auto missing = session.script(missing_rights_sql);
  if (missing.empty()) return {};
  const std::string right = missing[0][1].c_str(), table = missing[0][0].c_str();
  return refused("the role \"" + std::string(session.script("SELECT current_user")[0][0].c_str()) +
                 "\" may not " + right + " on table \"" + table +
                 "\": GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA " +
                 quoted_name(name_) + " to it");
}

std::vector<std::string> Schema::shape(Session& session) const {
  return first_column(session.script(shape_sql));
}

std::vector<std::string> Schema::made_shape(Session& session) const {
  const auto made = session.script("SELECT shape FROM schema_steps ORDER BY version DESC LIMIT 1");
  return made.empty() ? std::vector<std::string>() : array_elements(made[0][0].c_str());
}

Result<> Schema::altered(Session& session) const {
  std::map<std::string, std::string> now;
  for (auto& line : shape(session)) now[subject_of(line)] = line;
  std::set<std::string> known;
  const std::string undo = ": undo it, or restore the schema from a backup";
  for (const std::string& line : made_shape(session)) {
    const std::string subject = subject_of(line);
    known.insert(subject);
    const auto found = now.find(subject);
    if (found == now.end())
      return refused("somebody altered a table: the " + subject + " is missing" + undo);
    if (found->second != line) {
      return refused("somebody altered a table: it is \"" + found->second + "\", and was \"" +
                     line + "\"" + undo);
    }
  }
  for (const auto& subject : first_column(session.script(demanding_columns_sql))) {
    if (!known.contains(subject)) {
      return refused("somebody altered a table: the " + subject +
                     " is new and must not be NULL, but nobody fills it: give it a default");
    }
  }
  return {};
}

Result<> Schema::may_create(Session& session) const {
  const auto row = session.script(
      "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = " + quoted_text(name_) +
      "), has_database_privilege(current_database(), 'CREATE'), "
      "current_user")[0];
  if (row[0].as<bool>() || row[1].as<bool>()) return {};
  return refused(
      "the role \"" + std::string(row[2].c_str()) +
      "\" may not make a schema in the database: GRANT CREATE ON DATABASE to it, or make "
      "it yourself with CREATE SCHEMA " +
      quoted_name(name_) + " AUTHORIZATION " + quoted_name(row[2].c_str()));
}

// Tables that were there before, and that no step has made, are somebody else's.
void Schema::make_step(Session& session, int version) const {
  std::set<std::string> others;
  for (const auto& line : shape(session)) others.insert(table_of(line));
  others.erase("schema_steps");
  for (const auto& line : made_shape(session)) others.erase(table_of(line));
  session.script(steps_[static_cast<size_t>(version) - 1].sql);
  ArrayText lines;
  for (const auto& line : shape(session)) {
    if (!others.contains(table_of(line))) lines.add(line);
  }
  session.script("INSERT INTO schema_steps (version, summary, shape) VALUES (" +
                 std::to_string(version) + ", " +
                 quoted_text(steps_[static_cast<size_t>(version) - 1].summary) + ", " +
                 quoted_text(lines.take()) + ")");
}

// Nobody works with a store that does not exist. Each transaction of a server has the version
// locked (continuity.hpp), so whoever has not noticed the migration ends first, and what begins
// later waits and then sees the new version. This lock comes first here as there.
Result<> Schema::have_alone(Session& session, const SchemaState& state) const {
  if (!state.exists) return {};
  if (auto r = take_store_alone(session, name_, Until::transaction_ends); !r.ok()) return r;
  session.script("LOCK TABLE schema_steps IN ACCESS EXCLUSIVE MODE");
  return {};
}

std::vector<std::string> Schema::missing_steps(const SchemaState& state) const {
  std::vector<std::string> out;
  for (int version = state.version + 1; version <= newest(); ++version)
    out.push_back("version " + std::to_string(version) + ": " +
                  steps_[static_cast<size_t>(version) - 1].summary);
  return out;
}

void Schema::make_missing(Session& session, const SchemaState& state) const {
  if (!state.exists) {
    session.script("CREATE SCHEMA IF NOT EXISTS " + quoted_name(name_));
    session.script(
        "CREATE TABLE schema_steps (version integer PRIMARY KEY, summary text NOT NULL, shape "
        "text[] NOT NULL, made_at timestamptz NOT NULL DEFAULT now()); COMMENT ON TABLE "
        "schema_steps IS 'The steps that davit storage migrate has made. shape is what the tables "
        "were like then.'");
  }
  for (int version = state.version + 1; version <= newest(); ++version) make_step(session, version);
}

Result<std::vector<std::string>> Schema::migrate(Session& session, bool dry_run,
                                                 Patience patience) const {
  if (auto r = may_create(session); !r.ok()) return r.error();
  // One at a time: a second one waits, and then finds nothing to do.
  session.begin(Session::Kind::write, patience, wait_for_migration(name_));
  const SchemaState state = look(session);
  auto judged = judge(state);
  auto out = missing_steps(state);
  const bool nothing = !judged.ok() || out.empty();
  auto alone = nothing ? Result<>() : have_alone(session, state);
  if (!nothing && alone.ok()) make_missing(session, state);
  if (nothing || dry_run || !alone.ok()) {
    session.roll_back();
  } else {
    session.commit();
  }
  if (!judged.ok()) return judged.error();
  if (alone.ok()) return out;
  if (!dry_run) return alone.error();
  out.push_back("only listed, not tried: " + alone.error().message);
  return out;
}

}  // namespace davit::storage_postgres
