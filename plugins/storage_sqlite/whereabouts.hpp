// Are the files that are open still those that the path names? What is written to a file that was
// removed, replaced, or lies below a file system that was unmounted is lost with the process. Looks
// at each file's device and inode; a call costs a few microseconds. One thread at a time.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace davit::storage_sqlite {

class Whereabouts {
 public:
  // For the files of this database, which is open: itself, its journal and its lock. The journal is
  // known from the first look on that finds one.
  explicit Whereabouts(const std::string& database);
  // Whoever closes the database last removes its journal: the next one is known from the first look
  // on that finds it.
  void journal_was_closed();
  // What is wrong, and what to do; nothing: all are where they were.
  std::optional<std::string> fault();

 private:
  struct Place {
    std::string path;
    const char* what;
    bool known = false;
    dev_t device = 0;
    ino_t inode = 0;
    bool moved();
  };
  enum { file, journal, lock };
  std::vector<Place> places_;
};

}  // namespace davit::storage_sqlite
