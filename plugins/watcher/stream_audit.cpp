// The part of Stream for a peer without bookmarks: it has everything listed again at an interval
// and asks for what a listing does not name. Audit decides what to do when.
#include "stream.hpp"

namespace davit::watcher {
namespace {

constexpr std::chrono::seconds look_interval{1};
constexpr std::chrono::seconds answer_timeout{5};  // a stop waits for the answers
constexpr size_t asking_max = 16;

}  // namespace

void Stream::heard(const Item& item) {
  const sink::Change& c = item.change;
  const Named named{c.key.id, c.ns, c.name};
  if (c.type == sink::ChangeType::apply) {
    audit_->lives(named, c.version);
  } else if (c.type == sink::ChangeType::remove) {
    audit_->goes(named);
  }
}

void Stream::audit() {
  if (stopped_) return;
  audit_timer_.after(look_interval, [this] { audit(); });
  const auto now = with_->host.now();
  if (!up_ || busy()) return;
  end_quietly(now);
  if (call_ && audit_->wants_listing(now)) {
    relisting_ = true;
    return call_.cancel();
  }
  if (asking_ > 0) return;
  for (const Audit::Known& known : audit_->to_ask(now, asking_max)) ask(known);
  const bool distrusts = audit_->distrusts();
  if (distrusts && !distrust_said_) {
    with_->host.error(
        "the listing lacks more than half of the records that were sent, without a delete: "
        "none is taken for deleted (does the server know this region?)",
        {{"kind", kind_}, {"records", std::to_string(audit_->size())}});
  }
  distrust_said_ = distrusts;
}

// A listing may continue on a new connection after a break. So it ends when the current connection
// is silent for long enough, whichever connection that is.
void Stream::end_quietly(std::chrono::nanoseconds now) {
  const auto quiet = with_->timing.quiet;
  if (!listing_ || !call_ || !asked_ || quiet.count() == 0 || now - heard_at_ < quiet) return;
  listing_ = false;
  heeded(sink_.bookmark({false, std::nullopt, tracker_.committed(), true}));
}

void Stream::ask(const Audit::Known& known) {
  ++asking_;
  const auto deadline = with_->host.now() + answer_timeout;
  with_->channel.unary(
      dialect_.get_path, dialect_.get_request(known.named.id), strand_,
      [this, known](const Result<std::string>& answer) {
        if (answer.ok() && !stopped_) return read_answer(known, *answer);
        --asking_;
        if (stopped_) return close_when_idle();
        answered(known, answer);
      },
      dialect_.metadata, std::chrono::nanoseconds(deadline).count());
}

void Stream::answered(const Audit::Known& known, const Result<std::string>& answer) {
  if (answer.error().code == Code::not_found) {
    if (!audit_->absent(known.named.id, with_->host.now())) return;
    with_->host.warn("a record is missing on the server without a delete; it is taken for deleted",
                     {{"kind", kind_}, {"id", known.named.id}});
    Item gone;
    gone.change.type = sink::ChangeType::remove;
    gone.change.key = {kind_, region_, known.named.id};
    gone.change.ns = known.named.ns;
    gone.change.name = known.named.name;
    gone.change.version = known.version;
    found_.push_back(std::move(gone));
    return feed_found();
  }
  audit_->unanswered(known.named.id, with_->host.now(), with_->host.random());
}

// Asks the kind what the answer says, on its pool.
void Stream::read_answer(const Audit::Known& known, std::string answer) {
  with_->host.blocking(dialect_.pool, [this, known, answer = std::move(answer)] {
    auto batch = std::make_shared<Result<Batch>>(dialect_.decode(Buffer::of(answer)));
    strand_.post([this, known, batch] {
      --asking_;
      if (stopped_) return close_when_idle();
      found(known, std::move(*batch));
    });
  });
}

void Stream::found(const Audit::Known& known, Result<Batch> batch) {
  if (!batch.ok() && retryable(batch.error().code))
    return audit_->unanswered(known.named.id, with_->host.now(), with_->host.random());
  audit_->present(known.named.id);
  if (!batch.ok()) return;
  for (Item& item : batch->items) {
    if (!item.fault.empty()) continue;  // the stream sends and parks it, too
    item.change.version = known.version;
    found_.push_back(std::move(item));
  }
  feed_found();
}

void Stream::feed_found() {
  if (feeding_ || closing_) return;
  while (!found_.empty()) {
    Item& item = found_.front();
    if (!sink_.offer(item.change)) return;
    tracker_.offered(item.change.version);
    changes_.add();
    heard(item);
    found_.pop_front();
  }
}

}  // namespace davit::watcher
