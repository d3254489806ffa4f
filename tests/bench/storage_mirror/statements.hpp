// The statements of the original control plane, on PostgreSQL: what it asks of its database for a
// page of a watch, a point query, a report and a heartbeat, in number and in shape (krane.md,
// sections 2 and 3). A deployment is spread over the tables that the original joins for it, other
// kinds have one table; statements are parsed and planned each time.
#pragma once

#include <map>
#include <pqxx/pqxx>

#include <davit/records.hpp>
#include <davit/storage.hpp>

namespace davit::storage_mirror {

// Makes the tables if they are not there.
void make_tables(pqxx::connection&);
// The newest version of any record.
uint64_t newest(pqxx::connection&);

// One connection of the pool. Not for two threads at once; throws what libpqxx throws.
class Statements {
 public:
  explicit Statements(const std::string& connection) : connection_(connection) {}

  // One statement; a region's first page asks for its row before. Returns the version of the last
  // record that was shown, and whether there is more.
  std::pair<Version, bool> page(const ReadRequest&, const storage::VisitRecord&);
  // One statement. By name it is a report's look-up, which asks for the id only.
  void get(const Query&, const storage::VisitRecord&);
  // One statement for each 250 records of a kind, in a transaction if there are several. The
  // original's writer is another program; both sides of a measurement have the same changes.
  void write(const std::vector<Record>&);
  // The region; then, in a transaction, the instances that are there, those that have gone, and
  // each that was reported.
  void report(const Status&);
  // The region if it is new, its row, and the cluster's.
  void heartbeat(const Progress&);

 private:
  int64_t region_of(const std::string& name);  // 0: there is none
  int64_t made_region(const std::string& name);

  pqxx::connection connection_;
  std::map<std::string, int64_t> regions_;  // of watches: the original asks once a stream
};

}  // namespace davit::storage_mirror
