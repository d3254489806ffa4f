#include "listing.hpp"

#include <davit/v1/operator.pb.h>

#include "columns.hpp"
#include "document.hpp"
#include "page_size.hpp"

namespace davit::desired {

namespace {
// The limit of an answer, which is one message.
constexpr uint64_t bytes_per_answer = 1 << 20;
}  // namespace

Result<> Listing::begin() {
  if (std::exchange(begun_, true) || include_deleted_) return {};
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  begun_at_ = head->head.version;
  return {};
}

// Skips pages that have no record of the selection.
Result<std::optional<std::string>> Listing::next() {
  if (auto r = begin(); !r.ok()) return r.error();
  for (;;) {
    if (left() || shared_.stopping) return given_up();
    v1::OperatorWatchResponse response;
    Result<uint64_t> dead_after = uint64_t{0};
    if (!current_) dead_after = leave_out_none(storage_);
    if (!dead_after.ok()) return dead_after.error();
    auto page = storage_.read(
        {{selection_.kind, selection_.region},
         cursor_,
         *dead_after,
         records_per_page,
         bytes_per_answer},
        [&](const davit_record& r) {
          const bool before = view(r.state) == "deleted" && r.version <= begun_at_;
          if (!before && selection_.takes(from_abi(r.key)))
            to_wire(shared_.kinds.get(view(r.key.kind)), from_abi(r), response.add_records());
          return true;
        });
    if (!page.ok()) return page.error();
    if (page->more && page->next_version <= cursor_.version) return stands_still();
    cursor_ = {page->head.head.incarnation, page->next_version};
    any_ |= response.records_size() > 0;
    if (!page->more && !std::exchange(current_, true)) {
      if (!any_ && shared_.kinds.mistyped(selection_.kind))
        return shared_.kinds.unknown(selection_.kind);
      response.set_current(true);
    }
    if (response.current() || response.records_size() > 0) {
      if (!std::exchange(any_answer_, true))
        add_columns(shared_.kinds, selection_.kind, DAVIT_COLUMN_SPEC, response.mutable_columns());
      return std::optional(response.SerializeAsString());
    }
    if (!page->more) return std::optional<std::string>();
  }
}

}  // namespace davit::desired
