#include "listing.hpp"

#include "document.hpp"
#include "page_size.hpp"

namespace davit::desired {

namespace {
// The limit of an answer, which is one message.
constexpr uint64_t bytes_per_answer = 1 << 20;
}  // namespace

Result<> Listing::begin() {
  if (std::exchange(begun_, true) || include_deleted_ || current_) return {};
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  begun_at_ = head->head.version;
  return {};
}

// Skips pages that have no record of the selection.
Result<std::optional<Listing::News>> Listing::next() {
  if (auto r = begin(); !r.ok()) return r.error();
  for (;;) {
    if (!go_on_() || shared_.stopping) return given_up();
    News news;
    Result<Version> dead_after = Version();
    if (!current_) dead_after = leave_out_none(storage_);
    if (!dead_after.ok()) return dead_after.error();
    auto page = storage_.read({{selection_.kind, selection_.region},
                               cursor_,
                               *dead_after,
                               records_per_page,
                               bytes_per_answer},
                              [&](const davit_record& r) {
                                const bool before =
                                    view(r.state) == "deleted" && Version(r.version) <= begun_at_;
                                if (!before && selection_.takes(from_abi(r.key)))
                                  news.records.push_back(as_shown(shared_.kinds, r));
                                return true;
                              });
    if (!page.ok()) return page.error();
    if (page->more && page->next_version <= cursor_.version) return stands_still();
    cursor_ = {page->head.head.incarnation, page->next_version};
    any_ |= !news.records.empty();
    if (!page->more && !std::exchange(current_, true)) {
      if (!any_ && shared_.kinds.mistyped(selection_.kind))
        return shared_.kinds.unknown(selection_.kind);
      news.current = true;
    }
    if (news.current || !news.records.empty()) return std::optional(std::move(news));
    if (!page->more) return std::optional<News>();
  }
}

}  // namespace davit::desired
