#include "resolution.hpp"

namespace davit::secret_store {

using std::chrono::nanoseconds;

Resolution::Resolution(Host host, std::shared_ptr<Store> store, const Op& op, Operation own,
                       secrets::Done done, Outstanding::Ticket ticket)
    : host_(host),
      store_(std::move(store)),
      op_(op),
      own_(std::move(own)),
      done_(std::move(done)),
      ticket_(std::move(ticket)),
      strand_(host.strand()),
      deadline_(strand_),
      pause_(strand_),
      backoff_(store_->settings().retry) {}

void Resolution::start(std::vector<secrets::Item> items) {
  self_ = shared_from_this();
  strand_.post([this, items = std::move(items)]() mutable { begin(std::move(items)); });
}

void Resolution::begin(std::vector<secrets::Item> items) {
  batch_.emplace(std::move(items), store_->settings().batch,
                 [this](const secrets::Item& item) { return store_->ask_for(item); });
  if (given_up(op_, host_.now()) || own_.cancelled()) return give_up();
  const auto told = [this] {
    return [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self) self->strand_.post([self] { self->give_up(); });
    };
  };
  on_cancel_.emplace(op_, told());
  on_end_.emplace(own_, told());
  if (op_.deadline_ns() != INT64_MAX)
    deadline_.after(nanoseconds(op_.deadline_ns()) - host_.now(), [this] { give_up(); });
  store_->look_up(*batch_);
  step();
}

void Resolution::step() {
  if (!done_) return;
  const Batch::Part* part = batch_->next();
  if (part == nullptr) return finish({});
  const auto permit = store_->ask();
  if (permit != Store::Permit::refused) return send(permit, *part);
  batch_->fail_all(store_->refusal());
  finish({});
}

// The part stays as it is until came() or the end.
void Resolution::send(Store::Permit permit, const Batch::Part& part) {
  host_.blocking({}, [self = shared_from_this(), permit, &part] {
    auto outcome = std::make_shared<Outcome>(self->store_->call(*self->batch_, part, self->own_));
    self->store_->note(permit, *outcome);
    self->strand_.post([self, outcome] { self->came(std::move(*outcome)); });
  });
}

void Resolution::came(Outcome outcome) {
  using Meaning = Outcome::Meaning;
  if (!done_) return;  // the caller has given up meanwhile
  if (outcome.meaning != Meaning::later) backoff_.reset();
  switch (outcome.meaning) {
    case Meaning::decrypted:
      store_->keep(*batch_, *batch_->next(), outcome);
      batch_->decrypted(std::move(outcome.values), outcome.errors, outcome.version);
      break;
    case Meaning::refused:
      batch_->refused(std::move(outcome.error), outcome.certain);
      break;
    case Meaning::group:
      batch_->fail_group(outcome.error);
      break;
    case Meaning::everything:
      batch_->fail_all(outcome.error);
      break;
    case Meaning::later:
      return retry_or_fail(outcome);
    case Meaning::over:
      return give_up();
  }
  step();
}

// Waits for another attempt, if that is soon enough for the caller and for us.
void Resolution::retry_or_fail(const Outcome& outcome) {
  const auto wait = backoff_.next(host_.random(), outcome.error.retry_after);
  const bool last = backoff_.failures() >= store_->settings().attempts_max;
  const bool too_long =
      wait > store_->settings().retry.most || nanoseconds(op_.deadline_ns()) - host_.now() <= wait;
  if (!last && !too_long) return pause_.after(wait, [this] { step(); });
  batch_->fail_all(outcome.error);
  step();
}

void Resolution::give_up() {
  if (!done_) return;
  if (auto over = given_up(op_, host_.now())) return finish(*over);
  finish(shutting_down());
}

void Resolution::finish(const Error& open) {
  deadline_.cancel();
  pause_.cancel();
  on_cancel_.reset();
  on_end_.reset();
  if (!batch_->decrypted_any() && !store_->items_are_bad(batch_->blamed())) {
    batch_->acquit({Code::unavailable,
                    "the vault refuses whatever it is asked: its storage is away, or the "
                    "keyrings' keys are gone"});
  }
  const auto self = std::move(self_);
  const auto done = std::exchange(done_, nullptr);
  auto results = batch_->take_results(open);
  store_->count(results);
  done(std::move(results));
  own_.cancel();  // a call that is under way
}

}  // namespace davit::secret_store
