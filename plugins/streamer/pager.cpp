#include "pager.hpp"

#include <algorithm>

namespace davit::streamer {
namespace {
// Bookmark intervals between two bookmarks of an idle subscription: with 10,000 agents a few
// thousand bookmarks a second.
constexpr int silence = 3;
}  // namespace

Pager::Pager(ProtocolTraits traits, Cursor cursor)
    : traits_(traits),
      cursor_(cursor),
      phase_(!cursor.version || !traits.has_incarnation ? Phase::head : Phase::ring) {}

Pager::Todo Pager::next() {
  if (phase_ != Phase::finished) {
    if (auto mark = bookmark()) return *mark;
  }
  switch (phase_) {
    case Phase::head:
      return {Act::read_head, cursor_};
    case Phase::snapshot:
      return {Act::read_page, cursor_, traits_.names_all_deleted ? purged_through_ : begin_version_,
              traits_.begins};
    case Phase::snapshot_end:
      phase_ = Phase::ring;
      marked_ = cursor_.version;
      return {Act::bookmark,      cursor_,
              Version(),          false,
              Mark::snapshot_end, std::exchange(live_count_, {}).total()};
    case Phase::pages:
      return {Act::read_page, cursor_};
    case Phase::ring:
      return waits_ ? Todo{Act::idle, cursor_} : Todo{Act::ask_ring, cursor_};
    case Phase::finished:
      break;
  }
  return {Act::finish, cursor_};
}

std::optional<Pager::Todo> Pager::bookmark() {
  // Within a snapshot the peer must not move its cursor: the snapshot's own bookmark ends it.
  const bool tailing = phase_ == Phase::ring || phase_ == Phase::pages;
  const bool news = cursor_.version > marked_ || (traits_.begins && silent_ >= silence);
  if (!traits_.bookmarks || !begun_ || !tailing || !due_ || !news) return std::nullopt;
  due_ = false;
  silent_ = 0;
  marked_ = cursor_.version;
  return Todo{Act::bookmark, cursor_};
}

std::optional<Pager::Todo> Pager::opening() {
  return std::exchange(opening_, std::nullopt);
}

void Pager::begin(Mark mark, Cursor at) {
  if (begun_ == at.incarnation) return;
  if (!begun_ && mark == Mark::begin_tail) marked_ = at.version;
  begun_ = at.incarnation;
  if (traits_.begins) opening_ = Todo{Act::bookmark, at, Version(), false, mark};
}

void Pager::head(const Head& head) {
  cursor_.incarnation = head.head.incarnation;
  // A ctrl.v1 peer keeps its cursor whatever the server says. With a cursor below the purge mark or
  // above the head (the store was restored) it would hear nothing more, so it gets everything
  // again.
  const bool served =
      cursor_.version >= head.purged_through && cursor_.version <= head.head.version;
  const bool again = !served && cursor_.version;
  if (!served) cursor_.version = {};
  if (cursor_.version) {
    // The peer's cluster may be further than its cursor (the peer died within a snapshot). The
    // store names each record as it is now. The ring would replay every change in between.
    phase_ = Phase::pages;
    return;
  }
  begin_version_ = head.head.version;
  purged_through_ = head.purged_through;
  phase_ = Phase::snapshot;
  begin(Mark::begin_snapshot, head.head);
  // A peer with ctrl_bookmarks hears that its cursor is void: what is not sent now is gone.
  if (again && traits_.bookmarks && !traits_.begins) opening_ = Todo{Act::bookmark, cursor_};
}

Result<> Pager::page(const Page& page, size_t records, std::shared_ptr<const PageNames> names) {
  const bool snapshot = phase_ == Phase::snapshot;
  const Incarnation incarnation = page.head.head.incarnation;
  if (snapshot && incarnation != cursor_.incarnation)
    return Error{Code::out_of_range, "the store's history changed under a snapshot"};
  if (names) live_count_.take(std::move(names));
  begin(Mark::begin_tail, {incarnation, cursor_.version});
  cursor_.version = page.next_version;
  dry_ = records == 0 && !page.more;
  cursor_.incarnation = incarnation;
  if (page.more) return {};
  if (snapshot && traits_.begins) {
    phase_ = Phase::snapshot_end;
    caught_up_ = true;
    return {};
  }
  caught_up();
  phase_ = Phase::ring;
  return {};
}

void Pager::caught_up() {
  if (!caught_up_ && cursor_.version > marked_) due_ = true;
  caught_up_ = true;
}

void Pager::ring_behind() {
  if (dry_) {
    waits_ = true;  // the tailer has not reached the store's head yet, and will wake the stream
  } else {
    caught_up_ = false;
    phase_ = Phase::pages;
  }
}

void Pager::ring_ahead() {
  // A cursor that the store has judged is merely ahead of the tailer. Any other cursor may be above
  // the head, which is for the store to refuse.
  if (begun_) {
    ring_tip(cursor_);
  } else {
    phase_ = Phase::pages;
  }
}

void Pager::ring_tip(Cursor after, bool whole) {
  begin(Mark::begin_tail, {after.incarnation, cursor_.version});
  cursor_ = after;
  waits_ = true;
  if (!whole) return;
  caught_up();
  if (traits_.close_when_drained) phase_ = Phase::finished;
}

void Pager::ring_frame(Cursor after, bool at_end) {
  begin(Mark::begin_tail, {after.incarnation, cursor_.version});
  cursor_ = after;
  dry_ = false;
  caught_up_ = false;
  if (at_end) caught_up();
}

void Pager::woken() {
  waits_ = false;
  dry_ = false;
}

void Pager::tick() {
  due_ = true;
  silent_ = std::min(silent_ + 1, silence);
}

}  // namespace davit::streamer
