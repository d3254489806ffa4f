// Decides what one subscription of a stream does next: read the store, take a frame of the ring,
// send a bookmark, wait, or end. It holds the cursor and little else. Stream carries out what the
// Pager says and tells it the result. Pure; tests/plugins/streamer has its scenarios.
//
//   cursor 0:  head -> begin bookmark -> pages (live records) -> end bookmark -> ring ...
//   cursor v:  ring, or pages when v is below its floor (the store judges the cursor) -> begin
//              bookmark -> ring ...; for a peer without incarnations: head -> pages -> ring ..., or
//              as from cursor 0 when the store cannot continue from v
//   ring ...:  frames until the tip -> bookmark -> idle until woken; behind the floor -> pages
//
// The store may begin an incarnation while the stream is open. The ring then sends the stream to
// the store, and another begin bookmark comes before what is read there. A snapshot ends with an
// error, because its records would be of two incarnations.
#pragma once

#include <davit/storage_reads.hpp>

#include "live_count.hpp"

namespace davit::streamer {

// How the subscriptions of one protocol behave.
struct ProtocolTraits {
  bool begins = true;  // sends a begin bookmark, and a snapshot ends with a count
  // Sends a bookmark when caught up and when the cursor moved. With `begins` an idle subscription
  // also repeats its position every third bookmark interval.
  bool bookmarks = true;
  bool has_incarnation = true;      // false: the peer's cursor is a version of the current history
  bool names_all_deleted = false;   // a snapshot names all deleted records that the store still has
  bool close_when_drained = false;  // ends with OK when caught up
};

class Pager {
 public:
  Pager(ProtocolTraits traits, Cursor cursor);

  enum class Act { read_head, read_page, ask_ring, bookmark, idle, finish };
  enum class Mark { plain, begin_snapshot, begin_tail, snapshot_end };
  struct Todo {
    Act act = Act::idle;
    Cursor cursor;         // read_page, ask_ring: from here; bookmark: up to here
    Version dead_after{};  // read_page: as davit_read::dead_after
    bool counted = false;  // read_page: a page of a snapshot that ends with a count
    Mark mark = Mark::plain;
    uint64_t live_count = 0;  // snapshot_end
  };
  // What to do now. The caller tells the result of a read or of the ring before it calls next()
  // again. A bookmark counts as sent when next() has returned it.
  Todo next();
  // A bookmark, if one is due. It may share a message with the records before it.
  std::optional<Todo> bookmark();
  // The begin bookmark, as soon as the cursor has been judged, and again for each incarnation. It
  // is sent before all else.
  std::optional<Todo> opening();

  // --- results --------------------------------------------------------------------------------
  void head(const Head& head);
  // The stream sends the page's records before it calls next() again. `names`: only of a counted
  // page. An error (out_of_range) ends the stream.
  Result<> page(const Page& page, size_t records, std::shared_ptr<const PageNames> names);
  void ring_unready() { waits_ = true; }
  void ring_behind();
  void ring_ahead();
  // `whole`: nothing is left. Otherwise the ring will have more before the store has changed.
  void ring_tip(Cursor after, bool whole = true);
  void ring_frame(Cursor after, bool caught_up);
  void woken();  // the ring may have more
  void tick();   // a bookmark interval has passed

  Cursor cursor() const { return cursor_; }
  // True: the next step is a read of the store, which may run while a message is being written.
  bool reads_store() const {
    return phase_ == Phase::head || phase_ == Phase::snapshot || phase_ == Phase::pages;
  }

 private:
  enum class Phase { head, snapshot, snapshot_end, pages, ring, finished };
  void begin(Mark mark, Cursor at);
  void caught_up();

  ProtocolTraits traits_;
  Cursor cursor_;
  Version begin_version_{};   // of the snapshot
  Version purged_through_{};  // the purge mark at its begin
  Version marked_{};          // of the last bookmark
  LiveCount live_count_;
  std::optional<Todo> opening_;
  Phase phase_;
  std::optional<Incarnation> begun_;  // that the last begin bookmark names
  bool waits_ = false;
  bool due_ = false;
  int silent_ = 0;  // bookmark intervals since the last bookmark
  bool caught_up_ = false;
  bool dry_ = false;  // the last read found nothing, so the next one waits for a wake-up
};

}  // namespace davit::streamer
