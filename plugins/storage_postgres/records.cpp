#include "records.hpp"

#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

// A record whose name was taken over reads without it. The annotations are keys and values in turn,
// in the order in which they were written.
std::string columns(bool no_payload) {
  return "r.version, r.live, CASE WHEN r.name_taken THEN '' ELSE r.ns END, CASE WHEN r.name_taken "
         "THEN '' ELSE r.name END, r.kind, r.region, r.id, r.state, r.author, r.request_id, "
         "(extract(epoch FROM r.committed_at) * 1000)::bigint, " +
         std::string(no_payload
                         ? "NULL, NULL"
                         : "r.payload, CASE WHEN r.annotations IS NOT NULL THEN ARRAY(SELECT "
                           "unnest(ARRAY[a.key, a.value]) FROM json_each_text(r.annotations) AS a) "
                           "END");
}
constexpr int payload_column = 11, annotations_column = 12, number_column = 13;

// $1: above this version. $2: dead_after. $3: whether those that linger are wanted. $4: one more
// than the limit, which shows whether there is more. $5: the limit of bytes. The sum of the bytes
// does not read the payloads; only those of the page are read.
std::string page(bool no_payload, const std::string& scope) {
  return "SELECT " + columns(no_payload) +
         ", r.found FROM (SELECT p.*, count(*) OVER () AS found, row_number() OVER in_order AS "
         "place, sum(" +
         (no_payload ? "0" : "octet_length(payload)") +
         ") OVER in_order AS bytes FROM (SELECT * FROM records r WHERE version > $1::bigint AND "
         "(live OR version > $2::bigint OR ($3::boolean AND NOT EXISTS (SELECT FROM statuses s "
         "WHERE s.kind = r.kind AND s.region = r.region AND s.id = r.id AND s.gone AND "
         "s.observed_version >= r.version)))" +
         scope +
         " ORDER BY version LIMIT $4::bigint) AS p WINDOW in_order AS (ORDER BY version)) AS r "
         "WHERE place = 1 OR (place < $4::bigint AND bytes <= $5::bigint) ORDER BY version";
}

// $1 to $4: kinds, regions, ids or names, and the numbers of the queries.
std::string look_up(bool no_payload, const std::string& arrays, const std::string& with) {
  return "SELECT " + columns(no_payload) +
         ", k.number FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]" + arrays +
         ") JOIN records r ON r.kind = k.kind AND r.region = k.region AND " + with;
}

struct Statements {
  Statements(bool no_payload, const std::string& end)
      : pages("page" + end, 5, [=](const std::string& scope) { return page(no_payload, scope); }),
        by_id("records_by_id" + end, look_up(no_payload, ") AS k(kind, region, id, number",
                                             "r.id = k.id ORDER BY k.number")),
        // $5: namespaces; an empty one means any.
        by_name("records_by_name" + end,
                look_up(no_payload, ", $5::text[]) AS k(kind, region, name, number, ns",
                        "r.name = k.name AND (k.ns = '' OR r.ns = k.ns) AND NOT r.name_taken "
                        "ORDER BY k.number, r.ns, r.version")) {}
  const PageStatements pages;
  const BuiltStatement by_id, by_name;
};
const Statements whole(false, ""), without_payload(true, "_without_payload");

const Statements& statements(bool no_payload) {
  return no_payload ? without_payload : whole;
}

}  // namespace

Rows read_page(Session& session, const ReadRequest& q) {
  return statements(q.no_payload)
      .pages.read(
          session,
          {bounded_number(q.cursor.version), bounded_number(q.dead_after), q.lingering ? "t" : "f",
           std::to_string(uint64_t{q.limit} + 1), bounded_number(q.bytes_max)},
          q.scope);
}

Found find_records(Session& session, const GetRequest& request) {
  struct Asked {
    ArrayText kinds, regions, texts, numbers, spaces;
    bool any = false;
    void add(const Query& q, const std::string& text, size_t number) {
      kinds.add(q.key.kind);
      regions.add(q.key.region);
      texts.add(text);
      numbers.add_number(number);
      spaces.add(q.ns);
      any = true;
    }
    Values take() { return {kinds.take(), regions.take(), texts.take(), numbers.take()}; }
  };
  Asked ids, names;
  for (size_t n = 0; n < request.queries.size(); ++n) {
    const Query& q = request.queries[n];
    q.key.id.empty() ? names.add(q, q.name, n) : ids.add(q, q.key.id, n);
  }
  const Statements& sql = statements(request.no_payload);
  Found out;
  if (ids.any) out.by_id = session.ask(sql.by_id, ids.take());
  if (!names.any) return out;
  Values values = names.take();
  values.emplace_back(names.spaces.take());
  out.by_name = session.ask(sql.by_name, values);
  return out;
}

void Found::visit(const std::function<bool(const pqxx::row&)>& row) const {
  const auto number = [](const pqxx::row& r) { return to_number(r[number_column].c_str()); };
  auto id = by_id.begin(), name = by_name.begin();
  while (id != by_id.end() || name != by_name.end()) {
    const bool next_is_id =
        name == by_name.end() || (id != by_id.end() && number(*id) < number(*name));
    if (!row(next_is_id ? *id++ : *name++)) return;
  }
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
