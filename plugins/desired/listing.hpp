// What a watch of records tells, page by page: first the records that exist, then each record that
// changes. It is a cursor in the store, which next() moves. OperatorService/Watch and the watches
// of the role records are made of it.
#pragma once

#include "status_view.hpp"
#include "watch.hpp"

namespace davit::desired {

class Listing {
 public:
  struct News {
    std::vector<Record> records;
    bool current = false;  // now all records that existed have been named
  };

  // `from`: only what is above it; version 0: everything. While `go_on` is true a read may go on.
  Listing(Shared& shared, storage::Client storage, Selection selection, bool include_deleted,
          Cursor from, GoOn go_on)
      : shared_(shared),
        storage_(std::move(storage)),
        selection_(std::move(selection)),
        include_deleted_(include_deleted),
        go_on_(std::move(go_on)),
        current_(from.version != Version()),
        cursor_(from) {}

  // What comes next; nothing: there is nothing until the store changes. On the storage's pool, one
  // call at a time.
  Result<std::optional<News>> next();
  // Everything up to here has been told. Version 0 before all that existed has been named.
  Cursor at() const { return current_ ? cursor_ : Cursor(); }
  // In which the last news was read.
  Incarnation incarnation() const { return cursor_.incarnation; }

 private:
  Result<> begin();

  Shared& shared_;
  const storage::Client storage_;
  Selection selection_;
  bool include_deleted_;
  GoOn go_on_;
  bool begun_ = false;
  bool current_;        // all records that existed have been named
  bool any_ = false;    // a record has been named
  Version begun_at_{};  // records deleted at or below this version are left out
  Cursor cursor_;
};

}  // namespace davit::desired
