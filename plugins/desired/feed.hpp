// One watch of the role records: it reads a Listing page by page and tells the records as far as
// the watcher has granted credit. It keeps one page and reads no other before that is told.
#pragma once

#include <deque>

#include <davit/records_role.hpp>

#include "listing.hpp"

namespace davit::desired {

class Feed : public records::WatchHandle, public std::enable_shared_from_this<Feed> {
 public:
  // `shared` outlives it.
  static std::shared_ptr<Feed> make(Shared& shared, const records::Read& read,
                                    records::Watcher watcher);
  // Both [any].
  void credit(uint32_t more);
  void cancel();

 private:
  Feed(Shared& shared, const records::Read& read, records::Watcher watcher);

  // On the strand.
  void notice(StoreWatcher::Event event);
  void go_on();
  void tell();
  bool tell_one();
  void read();
  void took(Result<std::optional<Listing::News>> news);
  void end(const std::optional<Error>& why);

  Shared& shared_;
  Strand strand_;
  records::Watcher watcher_;
  std::shared_ptr<StoreWatcher::Subscriber> subscriber_;
  std::shared_ptr<std::atomic<bool>> over_ = std::make_shared<std::atomic<bool>>(false);
  std::shared_ptr<Listing> listing_;
  Outstanding::Ticket ticket_;  // stop waits until the watch has ended
  bool ended_ = false;

  uint64_t credit_ = 0;
  std::deque<records::Event> events_;  // of the page that was read last
  Cursor told_;                        // the position of the last event
  bool reading_ = false;
  bool current_ = false;  // there is nothing to read until the store changes
  bool again_ = false;    // the store changed while it was read
};

}  // namespace davit::desired
