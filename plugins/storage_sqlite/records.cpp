#include "records.hpp"

namespace davit::storage_sqlite {
namespace {

// `SELECT *` returns the columns in the order of the table, see schema.cpp. Without the payload the
// last three are missing.
constexpr int annotations_column = 12, payload_column = 14;

// Reuses the record's memory, so that a page of rows does not allocate for each row.
void fill(Connection& connection, const Statement& row, bool no_payload, Record& r) {
  r.version = Version(row.number(0));
  r.live = row.integer(1) != 0;
  const bool named = row.integer(2) == 0;
  r.committed_at_unix_ms = row.integer(3);
  r.key.kind.assign(row.text(4));
  r.key.region.assign(row.text(5));
  r.key.id.assign(row.text(6));
  r.ns.assign(named ? row.text(7) : std::string_view());
  r.name.assign(named ? row.text(8) : std::string_view());
  r.state.assign(row.text(9));
  r.author.assign(row.text(10));
  r.request_id.assign(row.text(11));
  r.annotations.clear();
  r.json.clear();
  r.payload.clear();
  if (no_payload) return;
  if (!row.null(annotations_column)) {
    Statement pairs =
        connection.query("SELECT key, value FROM json_each(?)", row.text(annotations_column));
    while (pairs.step()) r.annotations.emplace_back(pairs.text(0), pairs.text(1));
  }
  r.json.assign(row.text(13));
  r.payload.assign(row.blob(payload_column));
}

// One statement for each combination of kind and region, so that each uses the right index.
struct Statements {
  explicit Statements(const std::string& columns)
      : page_of_all(select(columns) + wanted() + in_order),
        page_of_kind(select(columns) + wanted() + " AND +kind = ?5" + in_order),
        page_of_region(select(columns) + wanted() + " AND +region = ?6" + in_order),
        page_of_both(select(columns) + " INDEXED BY records_scope" + wanted() +
                     " AND kind = ?5 AND region = ?6" + in_order),
        by_id(select(columns) + " WHERE kind = ? AND region = ? AND id = ?"),
        by_name(select(columns) + named() + " ORDER BY ns, version"),
        by_name_in(select(columns) + named() + " AND ns = ? ORDER BY version") {}
  const std::string page_of_all, page_of_kind, page_of_region, page_of_both, by_id, by_name,
      by_name_in;

 private:
  static constexpr const char* in_order = " ORDER BY version LIMIT ?3";
  static std::string select(const std::string& columns) {
    return "SELECT " + columns + " FROM records";
  }
  static std::string wanted() {
    return " WHERE version > ?1 AND (live OR version > ?2 OR (?4 AND NOT EXISTS (SELECT 1 FROM "
           "statuses AS s WHERE s.kind = records.kind AND s.region = records.region AND s.id = "
           "records.id AND s.gone AND s.observed_version >= records.version)))";
  }
  static std::string named() {
    return " WHERE kind = ? AND region = ? AND name = ? AND name_taken = 0";
  }
};
const Statements whole("*"),
    without_payload(
        "version, live, name_taken, committed_at_unix_ms, kind, region, id, ns, name, "
        "state, author, request_id");

const Statements& statements(bool no_payload) {
  return no_payload ? without_payload : whole;
}

Statement page_statement(Connection& c, const ReadRequest& q) {
  const Statements& sql = statements(q.no_payload);
  const int64_t after = static_cast<int64_t>(q.cursor.version.value()),
                dead_after = static_cast<int64_t>(q.dead_after.value());
  const int64_t limit = int64_t{q.limit} + 1;  // one more shows whether there is more
  const int64_t lingering = q.lingering ? 1 : 0;
  const std::string_view kind = q.scope.kind, region = q.scope.region;
  if (!kind.empty() && !region.empty()) {
    return c.query(sql.page_of_both.c_str(), after, dead_after, limit, lingering, kind, region);
  }
  if (!kind.empty())
    return c.query(sql.page_of_kind.c_str(), after, dead_after, limit, lingering, kind);
  if (!region.empty()) {
    return c.query(sql.page_of_region.c_str(), after, dead_after, limit, lingering, nullptr,
                   region);
  }
  return c.query(sql.page_of_all.c_str(), after, dead_after, limit, lingering);
}

Statement find(Connection& c, const Query& q, bool no_payload) {
  const Statements& sql = statements(no_payload);
  const std::string_view kind = q.key.kind, region = q.key.region, id = q.key.id, ns = q.ns,
                         name = q.name;
  if (!id.empty()) return c.query(sql.by_id.c_str(), kind, region, id);
  if (ns.empty()) return c.query(sql.by_name.c_str(), kind, region, name);
  return c.query(sql.by_name_in.c_str(), kind, region, name, ns);
}

}  // namespace

Head read_head(Connection& connection, const storage::Chain& chain) {
  Statement s = connection.query("SELECT head, status_head, purged_through FROM store");
  if (!s.step()) return {};
  return {{chain.current(), Version(s.number(0))}, Version(s.number(1)), Version(s.number(2))};
}

Page read_page(Connection& connection, const storage::Chain& chain, const ReadRequest& q,
               const storage::VisitRecord& visit) {
  if (q.limit == 0)
    connection.fail({Code::invalid_argument, "a page has at least one record", "limit"});
  Page page;
  page.head = read_head(connection, chain);
  const Version head = page.head.head.version;
  const auto in_chain = chain.accept(q.cursor, head);
  const auto above_mark =
      storage::above_purge_mark(q.cursor.version, q.dead_after, page.head.purged_through);
  if (!in_chain.ok()) connection.fail(in_chain.error());
  if (!above_mark.ok()) connection.fail(above_mark.error());

  page.next_version = q.cursor.version;
  Statement row = page_statement(connection, q);
  Record record;
  uint64_t bytes = 0;
  for (uint32_t count = 0; row.step(); ++count) {
    if (!q.no_payload) bytes += row.blob(payload_column).size();
    page.more = count == q.limit || (count > 0 && bytes > q.bytes_max);
    if (page.more) break;
    fill(connection, row, q.no_payload, record);
    page.next_version = record.version;
    page.more = !visit(record);  // the next page begins after this record
    if (page.more) break;
  }
  if (!page.more) page.next_version = head;
  return page;
}

Head get_records(Connection& connection, const storage::Chain& chain, const GetRequest& request,
                 const storage::VisitRecord& visit) {
  const Head head = read_head(connection, chain);
  Record record;
  for (const Query& q : request.queries) {
    Statement row = find(connection, q, request.no_payload);
    while (row.step()) {
      fill(connection, row, request.no_payload, record);
      if (!visit(record)) return head;
    }
  }
  return head;
}

}  // namespace davit::storage_sqlite
