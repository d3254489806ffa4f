// Reads records of the desired state from a server.
#pragma once

#include <vector>

#include <davit/v1/operator.pb.h>

#include "kind_columns.hpp"
#include "named_records.hpp"
#include "operator_client.hpp"

namespace davit::host {

struct RecordQuery {
  std::vector<RecordName> names;  // empty: all
  std::string region;             // empty: any
  bool deleted = false;           // deleted ones, too
  std::string ns{};               // empty: any
};

// True: the record is in the namespace that the query names, or it names none.
inline bool is_in_namespace(const RecordQuery& query, const v1::StoredRecord& record) {
  return query.ns.empty() || record.namespace_() == query.ns;
}

struct RecordsRead {
  std::vector<v1::StoredRecord> records;  // by kind, region, id and version
  KindColumns columns;                    // if they are of one kind
  std::vector<RecordName> absent;         // names with an id that are not there
};

Result<RecordsRead> read_records(OperatorClient& client, const RecordQuery& query);

// NOT_FOUND: `no deployment "d_1" in region "eu-1"`.
Error not_there(const RecordName& name, const std::string& region, const std::string& ns = {});

}  // namespace davit::host
