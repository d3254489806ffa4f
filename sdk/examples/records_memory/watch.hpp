// One watch: a position in the store, which its holder moves by giving credit (R10 to R13).
#pragma once

#include <davit/outstanding.hpp>

#include "store.hpp"

namespace records_memory {

// Calls of the watcher come on a strand of the watch's own, and so one after the other.
class Watch : public records::WatchHandle, public std::enable_shared_from_this<Watch> {
 public:
  // `ticket` is held until the watcher has heard the end.
  Watch(const davit::Host& host, const Store& store, records::Read read, records::Watcher watcher,
        davit::Outstanding::Ticket ticket)
      : store_(store),
        strand_(host.strand()),
        read_(std::move(read)),
        watcher_(std::move(watcher)),
        ticket_(std::move(ticket)),
        position_(read_.after.version),
        synced_(read_.after.version != 0) {}

  void credit(uint64_t more) {
    post([more](Watch& w) {
      w.credit_ += more;
      w.go_on();
    });
  }
  // The store has something new.
  void changed() {
    post([](Watch& w) { w.go_on(); });
  }
  void end(std::optional<davit::Error> why) {
    post([why = std::move(why)](Watch& w) { w.end_now(why); });
  }

 private:
  void post(std::function<void(Watch&)> task) {
    strand_.post([self = shared_from_this(), task = std::move(task)] { task(*self); });
  }
  void end_now(const std::optional<davit::Error>& why) {
    if (std::exchange(ended_, true)) return;
    watcher_.ended(why);
    ticket_.reset();
  }
  void go_on() {
    if (ended_) return;
    if (auto known = store_.accept(read_.after); !known.ok()) return end_now(known.error());
    while (credit_ > 0 && !ended_) {
      const auto event = next();
      if (!event) return;
      --credit_;
      watcher_.event(*event);
    }
  }
  // The next event: a record, that all have been named, or that the position has moved.
  std::optional<records::Event> next() {
    const Cursor head = store_.head();
    // Who begins without a cursor need not hear of what was deleted before.
    if (!begun_at_) begun_at_ = synced_ || read_.deleted ? Version() : head.version;
    if (auto r = store_.next(read_, position_, *begun_at_)) {
      position_ = r->version;
      const Cursor at = synced_ ? Cursor{head.incarnation, position_} : Cursor();
      return records::Event{DAVIT_RECORDS_EVENT_RECORD, std::move(r), at};
    }
    const bool first = !std::exchange(synced_, true);
    if (!first && position_ >= head.version) return std::nullopt;
    position_ = std::max(position_, head.version);
    return records::Event{first ? DAVIT_RECORDS_EVENT_SYNCED : DAVIT_RECORDS_EVENT_BOOKMARK,
                          std::nullopt, head};
  }

  const Store& store_;
  davit::Strand strand_;
  const records::Read read_;
  const records::Watcher watcher_;
  davit::Outstanding::Ticket ticket_;
  std::optional<Version> begun_at_;
  Version position_;
  bool synced_, ended_ = false;
  uint64_t credit_ = 0;
};

}  // namespace records_memory
