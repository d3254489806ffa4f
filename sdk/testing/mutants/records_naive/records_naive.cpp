// A records instance for the tests of the records suite, in memory. Without the setting `fault` it
// keeps every rule of its role. Each value of the setting breaks one rule, and the suite must fail
// exactly there.
#include <algorithm>
#include <chrono>
#include <deque>
#include <set>
#include <thread>

#include <davit/outstanding.hpp>

#include "store.hpp"

namespace davit::naive {
namespace {

// One watch: a position in the store, told on a strand of its own.
class Told : public records::WatchHandle, public std::enable_shared_from_this<Told> {
 public:
  Told(const Host& host, const Store& store, records::Read read, records::Watcher watcher,
       Outstanding::Ticket ticket)
      : store_(store),
        strand_(host.strand()),
        read_(std::move(read)),
        watcher_(std::move(watcher)),
        ticket_(std::move(ticket)),
        synced_(read_.after.version != 0),
        position_(read_.after.version),
        credit_(store.is("no_credit") ? 1 : 0) {}

  void credit(uint64_t more) {
    post([more](Told& t) {
      t.credit_ += more;
      t.go_on();
    });
  }
  void changed() {
    std::optional<Record> newest;
    if (store_.is("queues_everything")) newest = store_.next(read_, store_.head() - 1, 0);
    post([newest = std::move(newest)](Told& t) {
      if (newest && t.synced_ && newest->version > t.position_) t.queue(*newest);
      t.go_on();
    });
  }
  void end(std::optional<Error> why) {
    post([why = std::move(why)](Told& t) { t.end_now(why); });
  }

 private:
  void post(std::function<void(Told&)> task) {
    strand_.post([self = shared_from_this(), task = std::move(task)] { task(*self); });
  }
  void end_now(std::optional<Error> why) {
    if (std::exchange(ended_, true)) return;
    if (store_.is("ends_without_reason")) why.reset();
    watcher_.ended(why);
    if (store_.is("ends_twice")) watcher_.ended(why);
    if (store_.is("goes_on")) {
      watcher_.event({DAVIT_RECORDS_EVENT_BOOKMARK, std::nullopt, {Store::incarnation, 1}});
    }
    ticket_.reset();
  }
  // The next event, if there is one. Moves the position.
  std::optional<records::Event> next() {
    if (!queue_.empty()) {
      records::Event e = std::move(queue_.front());
      queue_.pop_front();
      return e;
    }
    if (!begun_at_) begun_at_ = synced_ || read_.deleted ? 0 : store_.head();
    const Version head = store_.head();
    const bool early = store_.is("synced_first") && !synced_;
    if (auto r = early ? std::nullopt : store_.next(read_, position_, *begun_at_)) {
      position_ = r->version;
      if (store_.is("forgets_deletes")) r->state = "running";
      const bool has_position = synced_ || store_.is("positions_early");
      const Cursor at = has_position ? Cursor{Store::incarnation, position_} : Cursor();
      return records::Event{DAVIT_RECORDS_EVENT_RECORD, std::move(r), at};
    }
    const bool first = !synced_;
    if (!first && position_ >= head) return std::nullopt;
    synced_ = true;
    if (!early) position_ = std::max(position_, head);
    return records::Event{
        first ? DAVIT_RECORDS_EVENT_SYNCED : DAVIT_RECORDS_EVENT_BOOKMARK,
        std::nullopt,
        {Store::incarnation, first && store_.is("skips_ahead") ? head + 1 : head}};
  }
  void queue(const Record& r) {
    position_ = r.version;
    queue_.push_back({DAVIT_RECORDS_EVENT_RECORD, r, {Store::incarnation, position_}});
  }
  void go_on() {
    if (ended_) return;
    if (auto known = store_.known(read_.after); !known.ok()) return end_now(known.error());
    while (credit_ > 0) {
      auto e = next();
      if (!e) return;
      --credit_;
      watcher_.event(*e);
    }
  }

  const Store& store_;
  Strand strand_;
  records::Read read_;
  records::Watcher watcher_;
  Outstanding::Ticket ticket_;
  std::deque<records::Event> queue_;
  bool synced_, ended_ = false;
  std::optional<Version> begun_at_;
  Version position_;
  uint64_t credit_;
};

class Naive {
 public:
  using roles = Roles<records::Role>;
  static constexpr uint32_t max_concurrency = 2;
  explicit Naive(Host host) : host_(host), store_(Settings(host).string("fault", "none")) {}
  ~Naive() { static_cast<void>(open_.wait(host_, Op())); }

  void apply(const Op& op, records::Apply request, records::ApplyDone done) {
    later([this, op, stopped = stopped_.load(), request = std::move(request),
           done = std::move(done)] {
      records::AppliedList results;
      if (const auto e = over(op, stopped)) {
        for (const auto& d : request.documents) results.push_back({d.key, {}, {}, *e});
      } else {
        results = store_.apply(request);
      }
      tell_all();
      if (store_.is("answers_twice")) done(results);
      done(std::move(results));
    });
  }
  void get(const Op& op, Query query, records::Done done) {
    later([this, op, stopped = stopped_.load(), query = std::move(query), done = std::move(done)] {
      if (auto e = over(op, stopped)) return done(*e);
      done(store_.get(query));
    });
  }
  void list(const Op& op, records::Read read, records::Done done) {
    later([this, op, stopped = stopped_.load(), read = std::move(read), done = std::move(done)] {
      if (auto e = over(op, stopped)) return done(*e);
      done(store_.list(read));
    });
  }
  Result<records::WatchHandle*> watch(records::Read read, uint32_t credit,
                                      records::Watcher watcher) {
    auto told =
        std::make_shared<Told>(host_, store_, std::move(read), std::move(watcher), told_.begin());
    records::WatchHandle* const handle = told.get();
    {
      const std::lock_guard lock(mutex_);
      watches_.emplace(handle, told);
    }
    if (stopped_ && !store_.is("serves_after_stop")) {
      told->end(gone());
    } else {
      told->credit(credit);
    }
    return handle;
  }
  void credit(records::WatchHandle* w, uint32_t more) { at(w)->credit(more); }
  void cancel(records::WatchHandle* w) {
    const auto told = at(w);
    {
      const std::lock_guard lock(mutex_);
      watches_.erase(w);
    }
    told->end(std::nullopt);
  }
  Result<> stop(const Op& op) {
    stopped_ = true;
    for (const auto& told : all()) told->end(gone());
    if (auto ended = told_.wait(host_, op); !ended.ok()) return ended;
    return store_.is("forgets_at_stop") ? Result<>() : open_.wait(host_, op);
  }

 private:
  static Error gone() { return {Code::unavailable, "the instance stops"}; }
  std::optional<Error> over(const Op& op, bool stopped) const {
    if (stopped && !store_.is("serves_after_stop")) return gone();
    if (op.cancelled() && !store_.is("never_gives_up"))
      return Error{Code::cancelled, "the caller has given up"};
    if (op.deadline_ns() < host_.now().count() && !store_.is("never_gives_up"))
      return Error{Code::deadline_exceeded, "the deadline has passed"};
    return std::nullopt;
  }
  // The calls of one fault take so long that some are still open at a stop.
  void later(std::function<void()> task) {
    const std::chrono::milliseconds first(store_.is("forgets_at_stop") ? 50 : 0);
    host_.blocking("", [first, task = std::move(task), ticket = open_.begin()] {
      std::this_thread::sleep_for(first);
      task();
    });
  }
  std::shared_ptr<Told> at(records::WatchHandle* w) {
    const std::lock_guard lock(mutex_);
    return watches_.at(w);
  }
  std::vector<std::shared_ptr<Told>> all() {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Told>> out;
    for (const auto& [handle, told] : watches_) out.push_back(told);
    return out;
  }
  void tell_all() {
    for (const auto& told : all()) told->changed();
  }

  Host host_;
  Store store_;
  std::mutex mutex_;
  std::map<records::WatchHandle*, std::shared_ptr<Told>> watches_;
  std::atomic<bool> stopped_{false};
  Outstanding open_, told_;  // calls, watches
};

}  // namespace
}  // namespace davit::naive

DAVIT_PLUGIN(davit::naive::Naive, "records_naive", "0.1.0",
             "breaks the rules of records, for tests")
