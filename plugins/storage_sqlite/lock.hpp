// Ensures that one process owns a database, by an advisory lock on PATH.lock that is held while the
// instance runs. The lock is not on the database itself: closing any descriptor of that file would
// drop SQLite's own locks. If somebody removes PATH.lock, a second owner can start; the first one
// notices before its next commit (OpenFiles).
#pragma once

#include "davit/types.hpp"

namespace davit::storage_sqlite {

class Lock {
 public:
  // Takes the lock. Errors name `database`. The file remains when the lock is released, because
  // removing it would race with the next owner. UNAVAILABLE: another process has it.
  static Result<Lock> take(const std::string& database);
  // Checks whether the lock could be taken. Creates no file.
  static Result<> look(const std::string& database);
  // True if an earlier owner had created the database. An empty file is then not a first start.
  bool was_made() const { return made_; }
  // Records that the database exists.
  void note_made();
  Lock(Lock&& o) noexcept : descriptor_(std::exchange(o.descriptor_, -1)), made_(o.made_) {}
  Lock& operator=(Lock&& o) noexcept {
    std::swap(descriptor_, o.descriptor_);
    std::swap(made_, o.made_);
    return *this;
  }
  ~Lock();

 private:
  explicit Lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
  bool made_ = false;
};

}  // namespace davit::storage_sqlite
