// Reads pages of records, and single records. Each function asks once, within the caller's
// transaction, and returns what it found. Throws Faults.
#pragma once

#include "pages.hpp"

namespace davit::storage_postgres {

// At least one row, if there is any.
Rows read_page(Session& session, const ReadRequest& request);
// What was found by id and by name. The last column of a row is the number of its query.
struct Found {
  pqxx::result by_id, by_name;
  // In the order of the queries. Returns false to stop.
  void visit(const std::function<bool(const pqxx::row&)>& row) const;
};
Found find_records(Session& session, const GetRequest& request);
// The record of a row of either. Reuses the record's memory.
void fill_record(const pqxx::row& row, Record& record);

}  // namespace davit::storage_postgres
