// One process owns a database: an advisory lock on PATH.lock, held while the instance runs. Not on
// the database itself: closing any descriptor of that would drop SQLite's own locks.
#pragma once

#include "davit/types.hpp"

namespace davit::storage_sqlite {

class Lock {
 public:
  // `database` is what errors name. The file stays when the lock goes: taking it away would race
  // with the next.
  static Result<Lock> take(const std::string& database);
  Lock(Lock&& o) noexcept : descriptor_(std::exchange(o.descriptor_, -1)) {}
  Lock& operator=(Lock&& o) noexcept {
    std::swap(descriptor_, o.descriptor_);
    return *this;
  }
  ~Lock();

 private:
  explicit Lock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

}  // namespace davit::storage_sqlite
