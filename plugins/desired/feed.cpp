#include "feed.hpp"

namespace davit::desired {

std::shared_ptr<Feed> Feed::make(Shared& shared, const records::Read& read,
                                 records::Watcher watcher) {
  std::shared_ptr<Feed> feed(new Feed(shared, read, std::move(watcher)));
  *feed->subscriber_ = {feed->strand_,
                        [weak = std::weak_ptr<Feed>(feed)](StoreWatcher::Event event) {
                          if (auto self = weak.lock()) self->notice(event);
                        },
                        false};
  // Subscribe before the first read, so that no change after that read is missed.
  if (!shared.store_watcher.subscribe(feed->subscriber_))
    feed->strand_.post([feed] { feed->notice(StoreWatcher::Event::stopping); });
  return feed;
}

Feed::Feed(Shared& shared, const records::Read& read, records::Watcher watcher)
    : shared_(shared),
      strand_(shared.host.strand()),
      watcher_(std::move(watcher)),
      subscriber_(std::make_shared<StoreWatcher::Subscriber>()),
      listing_(std::make_shared<Listing>(shared, shared.storage,
                                         Selection{read.kind, read.region, {}}, read.deleted,
                                         read.after, [over = over_] { return !*over; })),
      ticket_(shared.outstanding.begin()),
      told_(read.after) {}

void Feed::credit(uint32_t more) {
  strand_.post([self = shared_from_this(), more] {
    self->credit_ += more;
    self->go_on();
  });
}

void Feed::cancel() {
  *over_ = true;  // a read that goes on may be given up
  strand_.post([self = shared_from_this()] { self->end(std::nullopt); });
}

void Feed::notice(StoreWatcher::Event event) {
  if (ended_) return;
  if (event == StoreWatcher::Event::stopping) return end(shutting_down());
  again_ = true;
  current_ = false;
  go_on();
}

void Feed::go_on() {
  tell();
  if (!ended_ && !reading_ && !current_ && credit_ > 0 && events_.empty()) read();
}

void Feed::tell() {
  while (!ended_ && credit_ > 0 && tell_one()) {
  }
}

// The watcher may call credit() and cancel() in the event: both wait for the strand.
bool Feed::tell_one() {
  if (!events_.empty()) {
    const records::Event event = std::move(events_.front());
    events_.pop_front();
    told_ = event.at;
    --credit_;
    watcher_.event(event);
    return true;
  }
  // Everything is told, and the store has changed since only for others.
  const Cursor at = reading_ ? Cursor() : listing_->at();
  if (!current_ || !at.version || at == told_) return false;
  told_ = at;
  --credit_;
  watcher_.event({DAVIT_RECORDS_EVENT_BOOKMARK, std::nullopt, at});
  return true;
}

void Feed::read() {
  reading_ = true;
  again_ = false;
  shared_.storage.run(
      strand_, [listing = listing_](const storage::Client&) { return listing->next(); },
      [self = shared_from_this()](Result<std::optional<Listing::News>> news) {
        self->reading_ = false;
        self->took(std::move(news));
      });
}

void Feed::took(Result<std::optional<Listing::News>> news) {
  if (ended_) return;
  // What a cancel or a stop interrupts is no reason for an end: the watch ends because of them.
  if (!news.ok() && *over_) return end(std::nullopt);
  if (!news.ok() && shared_.operations.cancelled()) return end(shutting_down());
  if (!news.ok()) return end(news.error());
  if (*news) {
    const Cursor end_of_page = listing_->at();
    const bool snapshot = (*news)->current || !end_of_page.version;
    for (Record& r : (*news)->records) {
      const Cursor at = snapshot ? Cursor() : Cursor{end_of_page.incarnation, r.version};
      events_.push_back({DAVIT_RECORDS_EVENT_RECORD, std::move(r), at});
    }
    if ((*news)->current)
      events_.push_back({DAVIT_RECORDS_EVENT_SYNCED, std::nullopt, end_of_page});
  } else {
    current_ = !again_;
  }
  go_on();
}

void Feed::end(const std::optional<Error>& why) {
  if (std::exchange(ended_, true)) return;
  *over_ = true;
  shared_.store_watcher.unsubscribe(subscriber_);
  events_.clear();
  const auto watcher = std::exchange(watcher_, {});
  const auto ticket = std::exchange(ticket_, nullptr);  // until `ended` has returned
  watcher.ended(why);
}

}  // namespace davit::desired
