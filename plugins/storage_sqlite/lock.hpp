// One process owns a database: an advisory lock on PATH.lock, held while the instance runs. Not on
// the database itself: closing any descriptor of that would drop SQLite's own locks. Who removes
// the file lets a second owner in: the first one notices before its next commit (Whereabouts).
#pragma once

#include "davit/types.hpp"

namespace davit::storage_sqlite {

class Lock {
 public:
  // `database` is what errors name. The file stays when the lock goes: taking it away would race
  // with the next.
  // UNAVAILABLE: another process has it.
  static Result<Lock> take(const std::string& database);
  // Could it be taken? Makes no file.
  static Result<> look(const std::string& database);
  // Whoever had it before had made the database: an empty file is none of a first start.
  bool was_made() const { return made_; }
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
