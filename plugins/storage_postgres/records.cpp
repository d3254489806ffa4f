#include "records.hpp"

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

// A record whose name was taken over reads without it. The annotations are keys and values in turn,
// in the order in which they were written.
const std::string record_columns =
    "version, live, CASE WHEN name_taken THEN '' ELSE ns END, CASE WHEN name_taken THEN '' ELSE "
    "name END, kind, region, id, state, author, request_id, (extract(epoch FROM committed_at) * "
    "1000)::bigint, payload, CASE WHEN annotations IS NOT NULL THEN ARRAY(SELECT "
    "unnest(ARRAY[a.key, "
    "a.value]) FROM json_each_text(annotations) AS a) END";

// $1: above this version. $2: dead_after. $3: whether those that linger are wanted. $4: one more
// than the limit, which shows whether there is more. $5: the limit of bytes. The sum of the bytes
// does not read the payloads; only those of the page are read.
std::string records_page(const std::string& scope) {
  return "SELECT " + record_columns +
         ", found FROM (SELECT p.*, count(*) OVER () AS found, row_number() OVER in_order AS "
         "place, "
         "sum(octet_length(payload)) OVER in_order AS bytes FROM (SELECT * FROM records r WHERE "
         "version > $1::bigint AND (live OR version > $2::bigint OR ($3::boolean AND NOT EXISTS "
         "(SELECT FROM statuses s WHERE s.kind = r.kind AND s.region = r.region AND s.id = r.id "
         "AND "
         "s.gone AND s.observed_version >= r.version)))" +
         scope +
         " ORDER BY version LIMIT $4::bigint) AS p WINDOW in_order AS (ORDER BY version)) AS q "
         "WHERE "
         "place = 1 OR (place < $4::bigint AND bytes <= $5::bigint) ORDER BY version";
}

const std::string page_of_all_sql = records_page("");
const std::string page_of_kind_sql = records_page(" AND kind = $6");
const std::string page_of_region_sql = records_page(" AND region = $6");
const std::string page_of_both_sql = records_page(" AND kind = $6 AND region = $7");
const Statement page_of_all = {"page_of_all", page_of_all_sql.c_str()};
const Statement page_of_kind = {"page_of_kind", page_of_kind_sql.c_str()};
const Statement page_of_region = {"page_of_region", page_of_region_sql.c_str()};
const Statement page_of_both = {"page_of_both", page_of_both_sql.c_str()};

const std::string by_id_sql =
    "SELECT " + record_columns + " FROM records WHERE kind = $1 AND region = $2 AND id = $3";
const std::string by_name_sql = "SELECT " + record_columns +
                                " FROM records WHERE kind = $1 AND region = $2 AND name = $3 AND "
                                "($4 = '' OR ns = $4) AND NOT name_taken ORDER BY ns, version";
const Statement record_by_id = {"record_by_id", by_id_sql.c_str()};
const Statement records_by_name = {"records_by_name", by_name_sql.c_str()};

constexpr int payload_column = 11, annotations_column = 12, records_found_column = 13;

}  // namespace

Rows read_page(Session& session, const ReadRequest& q) {
  Values values = {bounded_number(q.cursor.version), bounded_number(q.dead_after),
                   q.lingering ? "t" : "f", std::to_string(uint64_t{q.limit} + 1),
                   bounded_number(q.bytes_max)};
  const bool kind = !q.scope.kind.empty(), region = !q.scope.region.empty();
  if (kind) values.emplace_back(q.scope.kind);
  if (region) values.emplace_back(q.scope.region);
  const Statement& statement = kind && region ? page_of_both
                               : kind         ? page_of_kind
                               : region       ? page_of_region
                                              : page_of_all;
  Rows out{session.ask(statement, values), false};
  out.more = !out.rows.empty() && to_number(out.rows[0][records_found_column].c_str()) >
                                      static_cast<uint64_t>(out.rows.size());
  return out;
}

pqxx::result find_records(Session& session, const Query& q) {
  if (!q.key.id.empty()) return session.ask(record_by_id, {q.key.kind, q.key.region, q.key.id});
  return session.ask(records_by_name, {q.key.kind, q.key.region, q.name, q.ns});
}

void fill_record(const pqxx::row& row, Record& r) {
  r.version = Version(to_number(row[0].c_str()));
  r.live = *row[1].c_str() == 't';
  r.ns = row[2].c_str();
  r.name = row[3].c_str();
  r.key.kind = row[4].c_str();
  r.key.region = row[5].c_str();
  r.key.id = row[6].c_str();
  r.state = row[7].c_str();
  r.author = row[8].c_str();
  r.request_id = row[9].c_str();
  r.committed_at_unix_ms = to_integer(row[10].c_str());
  r.payload.clear();
  append_bytes(r.payload, {row[payload_column].c_str(), row[payload_column].size()});
  r.annotations.clear();
  if (row[annotations_column].is_null()) return;
  auto texts = array_elements(row[annotations_column].c_str());
  for (size_t i = 0; i + 1 < texts.size(); i += 2)
    r.annotations.emplace_back(std::move(texts[i]), std::move(texts[i + 1]));
}

}  // namespace davit::storage_postgres
