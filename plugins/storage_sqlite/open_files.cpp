#include "open_files.hpp"

#include <sys/stat.h>

namespace davit::storage_sqlite {

bool OpenFiles::Place::moved() {
  struct stat now {};
  const bool there = stat(path.c_str(), &now) == 0;
  if (!known) {
    if (there) known = true, device = now.st_dev, inode = now.st_ino;
    return false;
  }
  return !there || now.st_dev != device || now.st_ino != inode;
}

OpenFiles::OpenFiles(const std::string& database)
    : places_{{database, "its file"},
              {database + "-wal", "its journal"},
              {database + ".lock", "its lock file"}} {
  for (auto& place : places_) (void)place.moved();
}

void OpenFiles::journal_was_closed() {
  places_[journal].known = false;
}

std::optional<std::string> OpenFiles::fault() {
  for (auto& place : places_) {
    if (place.moved()) {
      return std::string(place.what) +
             " was removed or replaced while it was open: nothing is written any more; put the "
             "files back if they were moved, and restart";
    }
  }
  return std::nullopt;
}

}  // namespace davit::storage_sqlite
