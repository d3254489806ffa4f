// A storage that has nothing and stores nothing. Tests derive from it and replace what they need; a
// method of the derived class hides the one here (storage::Role takes the class itself).
#pragma once

#include <davit/storage.hpp>
#include <davit/testing/host.hpp>

namespace davit::testing {

class EmptyStorage {
 public:
  static storage::Limits limits() { return {}; }
  Result<Head> head(const Op&) { return Head{{1, 0}, 0, 0}; }
  Result<Page> read(const Op&, const ReadRequest& q, const storage::VisitRecord&) {
    return Page{false, q.cursor.version, {{1, q.cursor.version}, 0, 0}};
  }
  Result<Head> get(const Op& op, const GetRequest&, const storage::VisitRecord&) {
    return head(op);
  }
  Result<std::vector<GroupResult>> commit(const Op&, const std::vector<Group>&) { return none(); }
  Result<> report(const Op&, const std::vector<Status>&) { return none(); }
  Result<StatusPage> statuses(const Op&, const StatusRead& q, const storage::VisitStatus&) {
    return StatusPage{false, q.cursor, {}};
  }
  Result<> progress(const Op&, const Progress&) { return none(); }
  Result<bool> agents(const Op&, const AgentRead&, const storage::VisitProgress&) { return false; }
  Result<> maintain(const Op&, const storage::Maintain&) { return {}; }
  Result<> history(const Op&, const storage::VisitCursor&) { return {}; }

 private:
  static Error none() { return {Code::unimplemented, "is not played"}; }
};

// The client of a storage that a test plays.
template <class Storage>
storage::Client client_of(TestHost& host, Storage& storage) {
  static const davit_commit no_queue{};
  host.add_service(DAVIT_COMMIT, &no_queue);
  davit_ref ref{};
  ref.instance = str("main");
  ref.self = reinterpret_cast<davit_instance*>(&storage);
  ref.vtable = storage::Role::vtable<Storage>();
  return storage::Client(host.host(), ref);
}

}  // namespace davit::testing
