#include "measure.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

namespace davit::storage_sqlite {
namespace {

std::optional<uint64_t> size_of(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

uint64_t number(Connection& c, const char* sql) {
  Statement s = c.query(sql);
  return s.step() ? s.number(0) : 0;
}

}  // namespace

void count_rows(Connection& c, Measured& out) {
  const uint64_t dead = number(c, "SELECT count(*) FROM records WHERE live = 0");
  out.records = number(c, "SELECT count(*) FROM records") - dead;
  out.tombstones = dead;
  out.statuses = number(c, "SELECT count(*) FROM statuses");
}

void look_at_files(const std::string& database, Measured& out) {
  out.file_bytes = size_of(database);
  out.journal_bytes = size_of(database + "-wal");
  struct statvfs status {};
  if (statvfs(database.c_str(), &status) == 0)
    out.free_bytes = static_cast<uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace davit::storage_sqlite
