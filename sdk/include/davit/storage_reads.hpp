// What a storage is asked for: pages of records, and look-ups.
#pragma once

#include "records.hpp"

namespace davit {

// An empty string means any.
struct Scope {
  std::string kind, region;
};

struct ReadRequest {
  Scope scope{};
  Cursor cursor{};
  Version dead_after{};
  uint32_t limit = 100;
  uint64_t bytes_max = UINT64_MAX;
  // DAVIT_READ_LINGERING: `dead_after` leaves out a deleted record only when its stored status says
  // gone of the record's version or of a later one.
  bool lingering = false;
  bool no_payload = false;  // DAVIT_READ_NO_PAYLOAD: payload, JSON and annotations may be left out
};

struct Page {
  bool more = false;
  Version next_version{};
  Head head;
};

// Which statuses to read: those above the cursor, which is one of statuses.
struct StatusRead {
  Scope scope{};
  Cursor cursor{};
  uint32_t limit = 100;
  uint64_t bytes_max = UINT64_MAX;
};

struct StatusPage {
  bool more = false;
  Cursor next;  // the cursor of statuses after this page
  Head head;
};

// Asks for a record by its id, or by its name when the id is empty.
struct Query {
  Key key;
  std::string ns, name;
};

inline Query from_abi(const davit_query& q) {
  return {from_abi(q.key), text(q.ns), text(q.name)};
}

// Looks records up, query by query.
struct GetRequest {
  std::vector<Query> queries;
  bool no_payload = false;  // as in ReadRequest
};
inline GetRequest from_abi(const davit_get& q) {
  GetRequest out{{}, (q.flags & DAVIT_READ_NO_PAYLOAD) != 0};
  for (size_t i = 0; i < q.queries_count; ++i) out.queries.push_back(from_abi(*q.queries[i]));
  return out;
}
// Queries in ABI form; borrows from the request.
struct GetView {
  std::vector<davit_query> queries;
  std::vector<const davit_query*> pointers;
  davit_get abi{};

  explicit GetView(const GetRequest& q) {
    for (const Query& one : q.queries)
      queries.push_back({sizeof(davit_query), 0, to_abi(one.key), str(one.ns), str(one.name)});
    for (const davit_query& one : queries) pointers.push_back(&one);
    abi = {sizeof abi, q.no_payload ? DAVIT_READ_NO_PAYLOAD : 0, pointers.data(), pointers.size()};
  }
  GetView(const GetView&) = delete;
  GetView& operator=(const GetView&) = delete;
};

}  // namespace davit
