// The source of OperatorService/Watch: it names the records that exist, page by page, and then each
// record that changes. It is a cursor in the store, which next() moves.
#pragma once

#include "board.hpp"
#include "watch.hpp"

namespace davit::desired {

class Listing : public Source {
 public:
  Listing(Shared& shared, storage::Client storage, Selection selection, bool include_deleted)
      : shared_(shared),
        storage_(std::move(storage)),
        selection_(std::move(selection)),
        include_deleted_(include_deleted) {}

  Result<std::optional<std::string>> next() override;

 private:
  Result<> begin();

  Shared& shared_;
  const storage::Client storage_;
  Selection selection_;
  bool include_deleted_;
  bool begun_ = false;
  bool current_ = false;  // all records that existed have been named
  bool any_ = false;      // a record has been named
  bool any_answer_ = false;
  uint64_t begun_at_ = 0;  // records deleted at or below this version are left out
  Cursor cursor_;
};

}  // namespace davit::desired
