// What one subscription of a stream does next: read the store, take what the ring has, send a
// bookmark, wait, or end. It holds the cursor and little else; Stream carries out what it says and
// tells it what came of it. Pure; tests/plugins/streamer has its scenarios.
//
//   cursor 0:  head -> begin bookmark -> pages (live records) -> end bookmark -> ring ...
//   cursor v:  ring, or pages when v is below its floor (the store judges the cursor) -> begin
//              bookmark -> ring ...; of a peer without incarnations: head -> pages -> ring ..., or
//              as from cursor 0 when the store cannot go on from v
//   ring ...:  frames until the tip -> bookmark -> idle until woken; behind the floor -> pages
#pragma once

#include <davit/records.hpp>

#include "census.hpp"

namespace davit::streamer {

// How the subscriptions of one protocol behave.
struct Manners {
  bool begins = true;  // a begin bookmark; a snapshot ends with a count
  // When caught up and when the cursor moved; else now and then, to say that it still stands there.
  bool bookmarks = true;
  bool has_incarnation = true;      // false: the peer's cursor is a version of the current history
  bool buries = false;              // a snapshot names dead records, too
  bool ring = true;                 // false: the store is polled, as the original did
  bool close_when_drained = false;  // ends with OK when caught up
};

class Pager {
 public:
  Pager(Manners manners, Cursor cursor);

  enum class Act { read_head, read_page, ask_ring, bookmark, idle, sleep, finish };
  enum class Mark { plain, begin_snapshot, begin_tail, snapshot_end };
  struct Todo {
    Act act = Act::idle;
    Cursor cursor;            // read_page, ask_ring: from here; bookmark: up to here
    uint64_t dead_after = 0;  // read_page
    bool counted = false;     // read_page: of a snapshot that ends with a count
    Mark mark = Mark::plain;
    uint64_t live_count = 0;  // snapshot_end
  };
  // What to do now. The result of a read, of the ring and of a sleep is told before it is asked
  // again; a bookmark counts as sent when it was given.
  Todo next();
  // A bookmark, when one is due: it may share a message with the records before it.
  std::optional<Todo> bookmark();
  // The begin bookmark, once, as soon as the cursor has been judged: it goes before anything else.
  std::optional<Todo> opening();

  // --- results
  // ---------------------------------------------------------------------------------------------
  void head(const Head& head);
  // The stream sends what the page named before it asks `next` again. `names`: of a counted page.
  Result<> page(const Page& page, size_t records, std::shared_ptr<const PageNames> names);
  void ring_unready() { waits_ = true; }
  void ring_behind();
  void ring_ahead();
  void ring_tip(Cursor after);
  void ring_frame(Cursor after, bool caught_up);
  void woken();  // something may have come
  void slept();  // the sleep is over
  void tick();   // a bookmark interval has passed

  Cursor cursor() const { return cursor_; }
  // The next thing is a read of the store, which may run while a message is being written.
  bool reads_store() const {
    return phase_ == Phase::head || phase_ == Phase::snapshot || phase_ == Phase::pages;
  }

 private:
  enum class Phase { head, snapshot, snapshot_end, pages, ring, sleep, finished };
  void begin(Mark mark, Cursor at);
  void caught_up();

  Manners manners_;
  Cursor cursor_;
  uint64_t begin_version_ = 0;   // of the snapshot
  uint64_t purged_through_ = 0;  // at its begin: what is dead below is gone for everybody
  uint64_t marked_ = 0;          // version of the last bookmark
  Census census_;
  std::optional<Todo> opening_;
  Phase phase_;
  bool begun_ = false;
  bool first_page_ = true;
  bool waits_ = false;
  bool sleeping_ = false;
  bool due_ = false;
  int silent_ = 0;  // bookmark intervals since the last bookmark
  bool caught_up_ = false;
  bool dry_ =
      false;  // the last read found nothing: reading again at once would find nothing either
};

}  // namespace davit::streamer
