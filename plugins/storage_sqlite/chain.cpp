#include "chain.hpp"

namespace davit::storage_sqlite {
namespace {

Error out_of_range(std::string message) {
  return {Code::out_of_range, std::move(message)};
}

}  // namespace

void Chain::trim() {
  if (links_.size() <= links_max) return;
  links_.erase(links_.begin(), links_.end() - static_cast<std::ptrdiff_t>(links_max));
}

bool Chain::has(Incarnation incarnation) const {
  for (const auto& link : links_) {
    if (link.incarnation == incarnation) return true;
  }
  return false;
}

Version Chain::end_of(size_t i, Version head, First first) const {
  return i + 1 < links_.size() ? links_[i + 1].*first - 1 : head;
}

History Chain::history(Version head) const {
  History out;
  for (size_t i = 0; i < links_.size(); ++i) {
    out.push_back({links_[i].incarnation, end_of(i, head, &Link::first_version)});
  }
  return out;
}

Result<> Chain::accept(Cursor cursor, Version head, First first) const {
  if (!cursor.version) return {};
  // Searches from the newest link, because nearly all cursors are there.
  for (size_t i = links_.size(); i-- > 0;) {
    if (links_[i].incarnation != cursor.incarnation) continue;
    const Version end = end_of(i, head, first);
    if (cursor.version <= end) return {};
    return out_of_range("cursor " + to_string(cursor.version) + " is above " + to_string(end) +
                        ", where its incarnation ends");
  }
  return out_of_range("cursor " + to_string(cursor.version) +
                      " is of another history of this database, or of one that is forgotten");
}

Result<> above_purge_mark(Version cursor_version, Version dead_after, Version purged_through) {
  if (!cursor_version || std::max(cursor_version, dead_after) >= purged_through) return {};
  return out_of_range("cursor " + to_string(cursor_version) + " is below the purge mark " +
                      to_string(purged_through));
}

}  // namespace davit::storage_sqlite
