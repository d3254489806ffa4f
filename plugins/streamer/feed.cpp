#include "feed.hpp"

#include <algorithm>

#include <davit/backoff.hpp>

namespace davit::streamer {

namespace {
// Limits of one read: large enough for a burst in one query, small enough to be short.
constexpr uint32_t records_per_read = 1000;
constexpr uint64_t bytes_per_read = 1 << 20;
}  // namespace

Feed::Feed(Host host, Classifier& classifier, PageCache& pages, FeedSettings settings,
           std::vector<Encoding> encodings)
    : host_(host),
      classifier_(classifier),
      pages_(pages),
      settings_(settings),
      encodings_(std::move(encodings)),
      strand_(host.strand()),
      reads_(host.counter("davit_streamer_storage_reads_total", "Reads of the store.")),
      errors_(
          host.counter("davit_streamer_storage_errors_total", "Reads of the store that failed.")),
      poll_(strand_),
      tick_(strand_),
      ring_(settings.ring_bytes, encodings_),
      peers_(encodings_.size(), 0) {}

void Feed::start() {
  auto watch = storage_.watch(
      [](void* self, uint32_t what) {
        if ((what & DAVIT_HINT_RECORDS) != 0) static_cast<Feed*>(self)->want();
      },
      this);
  if (watch.ok()) {
    watch_ = std::move(*watch);
  } else {
    host_.warn("the storage gives no hints", {{"reason", watch.error().message}});
  }
  want();
  strand_.post([this, ticket = outstanding_.begin()] {
    schedule_poll();
    schedule_tick();
  });
}

Result<> Feed::stop(const Op& op, const Operations& reads) {
  watch_.end();
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  reads.cancel();
  tell(everybody(), Word::shutdown);
  strand_.post([this, ticket = outstanding_.begin()] {
    ended_ = true;
    poll_.cancel();
    tick_.cancel();
  });
  return outstanding_.wait(host_, op);
}

void Feed::schedule_poll() {
  if (ended_) return;
  poll_.after(jittered(settings_.poll_interval, host_.random()), [this] {
    want();
    schedule_poll();
  });
}

void Feed::schedule_tick() {
  if (ended_) return;
  tick_.after(settings_.bookmark_interval, [this] {
    tell(everybody(), Word::tick);
    ask_again();
    schedule_tick();
  });
}

void Feed::want() {
  Outstanding::Ticket ticket;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    again_ = true;
    if (std::exchange(reading_, true)) return;
    ticket = outstanding_.begin();  // under the mutex, so stop has not begun to wait
  }
  host_.blocking(storage_.instance(), [this, ticket = std::move(ticket)] { read(); });
}

void Feed::read() {
  {
    std::lock_guard lock(mutex_);
    again_ = false;
  }
  reads_.add();
  auto batch = fetch();
  const bool more = batch.ok() ? taken(std::move(*batch)) : failed(batch.error());
  {
    std::lock_guard lock(mutex_);
    reading_ = false;
    if (!more && !again_) return;
  }
  want();  // a new job at the end of the pool's queue, so other work on the storage goes on
}

Result<Feed::Batch> Feed::fetch() {
  Batch batch;
  if (!known_) {
    auto head = storage_.head();
    if (!head.ok()) return head.error();
    batch.page = {false, head->head.version, *head};
    return with_history(std::move(batch));
  }
  auto page = storage_.read({{}, cursor_, {}, records_per_read, bytes_per_read},
                            [&](const davit_record& r) {
                              if (classifier_.kind(view(r.key.kind)) != nullptr)
                                batch.records.push_back(from_abi(r));
                              return true;
                            });
  if (!page.ok()) return page.error();
  batch.page = *page;
  return with_history(std::move(batch));
}

Result<Feed::Batch> Feed::with_history(Batch batch) {
  if (known_ && batch.page.head.head.incarnation == cursor_.incarnation) return batch;
  auto history = storage_.history();
  if (!history.ok()) return history.error();
  batch.history = std::move(*history);
  return batch;
}

// True: read again at once, the store has more.
bool Feed::taken(Batch batch) {
  if (std::exchange(failures_, 0) > 0) {
    trouble_.reset();
    host_.info("storage is back");
    host_.health(DAVIT_HEALTH_SERVING);
  }
  const Cursor tip{batch.page.head.head.incarnation, batch.page.next_version};
  const bool new_history = !known_ || tip.incarnation != cursor_.incarnation;
  for (const Record& r : batch.records) pages_.changed({r.key.kind, r.key.region}, named(r));
  Ports concerned;
  {
    std::lock_guard lock(mutex_);
    if (!batch.history.empty()) history_ = std::move(batch.history);
    if (new_history) give_up_lanes();
    if (!known_) ring_.reset(tip);
    for (Record& r : batch.records) enter(std::move(r), concerned);
    ring_.advance(tip);
  }
  known_ = true;
  cursor_ = tip;
  // A stream with a cursor of an older incarnation must read the store, which judges the cursor.
  tell(new_history ? everybody() : concerned, Word::wake);
  start_lanes();
  return batch.page.more;
}

// True: read again at once, from the store's head.
bool Feed::failed(const Error& error) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;  // stop has cancelled the read
  }
  errors_.add();
  if (error.code == Code::out_of_range) {
    host_.warn("the store's history changed, or its tombstones were purged before they were read",
               {{"reason", error.message}});
    known_ = false;
    return true;
  }
  ++failures_;
  host_.health(DAVIT_HEALTH_NOT_SERVING, "storage cannot be read: " + error.message);
  // Logged when it begins, when it becomes another one, and when it ends.
  if (std::exchange(trouble_, error.code) != error.code)
    host_.error("storage cannot be read",
                {{"storage", std::string(storage_.instance())}, {"reason", error.message}});
  return false;
}

History Feed::history_since(Incarnation incarnation) const {
  std::lock_guard lock(mutex_);
  const auto from = std::ranges::find(history_, incarnation, &Cursor::incarnation);
  return {from, history_.end()};
}

Ring::Step Feed::next(const Topic& topic, Cursor cursor, size_t encoding) {
  std::lock_guard lock(mutex_);
  return ring_.next(topic, cursor, encoding);
}

bool Feed::join(const std::shared_ptr<Port>& port, const std::vector<Topic>& topics) {
  std::lock_guard lock(mutex_);
  if (stopping_) return false;
  port->number = ++joined_;
  ++peers_[port->encoding];
  for (const auto& t : topics) ports_[t].insert(port);
  return true;
}

void Feed::leave(const std::shared_ptr<Port>& port, const std::vector<Topic>& topics) {
  std::lock_guard lock(mutex_);
  for (const auto& t : topics) {
    auto it = ports_.find(t);
    if (it == ports_.end()) continue;
    it->second.erase(port);
    if (it->second.empty()) ports_.erase(it);
  }
  if (std::exchange(port->number, 0) != 0) --peers_[port->encoding];
}

Ports Feed::everybody() {
  std::lock_guard lock(mutex_);
  Ports out;
  for (const auto& [topic, ports] : ports_) out.insert(ports.begin(), ports.end());
  return out;
}

void Feed::tell(const Ports& ports, Word word) const {
  for (const auto& port : ports) {
    if (word == Word::wake && port->waking.exchange(true)) continue;
    port->strand.post([port, word] {
      if (word == Word::wake) port->waking = false;
      if (port->listener == nullptr) return;
      switch (word) {
        case Word::wake:
          port->listener->on_woken();
          break;
        case Word::tick:
          port->listener->on_tick();
          break;
        case Word::shutdown:
          port->listener->on_shutdown();
          break;
      }
    });
  }
}

}  // namespace davit::streamer
