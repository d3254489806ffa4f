// The records that OperatorService/Watch names: what is there, in pages, and then what changes. It
// is a cursor in the store, fed by whoever asks it for the next message.
#pragma once

#include "board.hpp"
#include "watch.hpp"

namespace davit::desired {

class Listing : public Source {
 public:
  Listing(Shared& shared, Selection selection, bool include_deleted)
      : shared_(shared), selection_(std::move(selection)), include_deleted_(include_deleted) {}

  Result<std::optional<std::string>> next() override;

 private:
  Result<> begin();

  Shared& shared_;
  Selection selection_;
  bool include_deleted_;
  bool begun_ = false;
  bool current_ = false;   // everything that was there has been named
  bool any_ = false;       // a record was named
  uint64_t begun_at_ = 0;  // who was deleted before that is left out
  Cursor cursor_;
};

}  // namespace davit::desired
