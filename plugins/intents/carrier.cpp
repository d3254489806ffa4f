#include "carrier.hpp"

#include <algorithm>

#include "document.hpp"

namespace davit::intents {

namespace {

using namespace std::chrono_literals;

constexpr uint32_t page_size = 256;  // so many are under way at once
constexpr std::chrono::nanoseconds call_time = 30s;
constexpr Backoff::Limits between_passes{200ms, 5'000ms};

// The id of a document may be missing: then the kind finds it in the spec.
bool may_be_same(const Key& a, const Key& b) {
  return a.kind == b.kind && a.region == b.region && (a.id == b.id || a.id.empty() || b.id.empty());
}
bool concerns(const std::vector<Key>& keys, const Key& key) {
  return std::any_of(keys.begin(), keys.end(), [&](const Key& k) { return may_be_same(k, key); });
}

// Whether the same intent may succeed later, as it is. One that expects another version than the
// record has does not.
bool passes(const Error& e) {
  return retryable(e.code) && !(e.code == Code::aborted && e.where == "expect");
}

}  // namespace

Carrier::Carrier(Host host, Neighbours neighbours, std::chrono::milliseconds interval)
    : host_(host),
      neighbours_(std::move(neighbours)),
      interval_(interval),
      carried_out_(
          host.counter("davit_intents_carried_out_total", "Intents whose record is as they say.")),
      refused_(host.counter("davit_intents_refused_total", "Intents that have got an error.")),
      put_off_(host.counter("davit_intents_put_off_total",
                            "Attempts after which an intent stayed open for a later one.")),
      strand_(host.strand()),
      timer_(strand_),
      backoff_(between_passes) {}

void Carrier::start() {
  wake();
}

void Carrier::stop() {
  operations_.cancel();
  strand_.post([this, ticket = outstanding_.begin()] {
    ended_ = true;
    timer_.cancel();
  });
}

void Carrier::wake() {
  if (woken_.exchange(true)) return;
  strand_.post([this, ticket = outstanding_.begin()] {
    if (!in_pass_) begin_pass();
  });
}

Operation Carrier::begin_call() {
  return operations_.begin((host_.now() + call_time).count());
}

void Carrier::begin_pass() {
  woken_ = false;
  if (ended_) return;
  timer_.after(jittered(interval_, host_.random()), [this] { wake(); });
  if (!neighbours_.election.leads()) return;
  in_pass_ = true;
  after_ = 0;
  put_off_keys_.clear();
  read_page();
}

void Carrier::read_page() {
  neighbours_.storage.run(
      strand_,
      [this, op = begin_call(), after = after_](const storage::Client&) {
        return neighbours_.intents.open(op, after, page_size);
      },
      [this, ticket = outstanding_.begin()](const Page& page) { take(page); });
}

void Carrier::take(const Page& page) {
  if (!page.ok()) {
    if (!std::exchange(unreadable_, true) && !ended_)
      host_.warn("intents cannot be read", {{"reason", page.error().message}});
    put_off_keys_.emplace_back();
    return end_pass();
  }
  if (std::exchange(unreadable_, false)) host_.info("intents can be read again");
  if (page->empty()) return end_pass();
  for (const storage::Intent& intent : *page) {
    after_ = intent.id;
    auto document = parse_document(intent.document);
    if (document.ok()) {
      waiting_.push_back({intent, std::move(*document)});
    } else {
      under_way_.emplace_back();
      settle({}, {intent.id, document.error()});
    }
  }
  go_on();
}

// Begins what need not wait for an earlier one. When all of the page has ended, the next comes.
void Carrier::go_on() {
  while (!waiting_.empty() && !concerns(under_way_, waiting_.front().document.key)) {
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    if (ended_ || concerns(put_off_keys_, work.document.key)) continue;
    apply(std::move(work));
  }
  if (!waiting_.empty() || !under_way_.empty()) return;
  if (ended_ || !neighbours_.election.leads()) return end_pass();
  read_page();
}

void Carrier::apply(Work work) {
  under_way_.push_back(work.document.key);
  const Operation op = begin_call();
  records::Apply request{{work.document},
                         {},
                         false,
                         std::string(host_.instance()) + "/" + work.intent.author,
                         work.intent.id};
  neighbours_.records.apply(
      std::move(request),
      [this, op, work = std::move(work),
       ticket = outstanding_.begin()](const records::AppliedList& results) {
        strand_.post([this, work, result = results.at(0), ticket] { applied(work, result); });
      },
      op);
}

void Carrier::applied(const Work& work, const records::Applied& result) {
  const Key& key = work.document.key;
  if (result.error) {
    if (passes(*result.error)) return ended(key, false);
    return settle(key, {work.intent.id, result.error});
  }
  // Nothing was committed, so nothing was written.
  if (result.outcome == "unchanged" || result.outcome == "absent")
    return settle(key, {work.intent.id, std::nullopt, result.at});
  carried_out_.add();
  ended(key, true);
}

void Carrier::settle(const Key& key, storage::IntentOutcome outcome) {
  if (outcome.error) {
    host_.debug("an intent is refused", {{"intent", std::to_string(outcome.id)},
                                         {"field", outcome.error->where},
                                         {"reason", outcome.error->message}});
  }
  neighbours_.storage.run(
      strand_,
      [this, op = begin_call(), outcome](const storage::Client&) {
        return neighbours_.intents.settle(op, outcome);
      },
      [this, key, refused = outcome.error.has_value(),
       ticket = outstanding_.begin()](const Result<>& r) {
        if (r.ok()) (refused ? refused_ : carried_out_).add();
        ended(key, r.ok());
      });
}

void Carrier::ended(const Key& key, bool done) {
  under_way_.erase(std::find(under_way_.begin(), under_way_.end(), key));
  if (!done) {
    put_off_.add();
    put_off_keys_.push_back(key);
  }
  go_on();
}

// What was put off is tried again after a pause, whatever the hints say.
void Carrier::end_pass() {
  in_pass_ = false;
  waiting_.clear();
  if (ended_) return;
  if (put_off_keys_.empty()) {
    backoff_.reset();
    if (woken_) begin_pass();
    return;
  }
  woken_ = true;  // nobody else begins the next pass
  timer_.after(backoff_.next(host_.random()), [this] { begin_pass(); });
}

}  // namespace davit::intents
