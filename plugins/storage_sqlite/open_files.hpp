// Checks that the open files are still the files at their paths. What is written to a file that was
// removed, replaced, or lies below an unmounted file system is lost when the process ends. The
// check compares device and inode of each file, and takes a few microseconds. One thread at a time.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace davit::storage_sqlite {

class OpenFiles {
 public:
  // For the files of an open database: itself, its journal and its lock. The journal is known from
  // the first check that finds it.
  explicit OpenFiles(const std::string& database);
  // The last connection that closes removes the journal. The next journal is known from the first
  // check that finds it.
  void journal_was_closed();
  // What is wrong and what to do; nothing if all files are in place.
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
