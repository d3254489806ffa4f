// The part of Stream that decodes messages. Those for which the kind is asked are read ahead, and
// decoded some at a time on the kind's pool. One job at a time keeps their order.
#include "stream.hpp"

namespace davit::watcher {
namespace {

constexpr size_t messages_ahead_max = 64;
// What has been decoded for so long is taken in before the next message is decoded.
constexpr std::chrono::milliseconds decoded_at_once{100};
constexpr uint32_t told_after = 3;  // failures of a kind in a row

}  // namespace

// A message that asks no kind is read when the one before it is taken in.
void Stream::read_on() {
  const size_t most = dialect_.pool.empty() ? 1 : messages_ahead_max;
  const size_t here = waiting() + (feeding_ ? 1 : 0);
  if (!call_ || stopped_ || reading_ || here >= most) return;
  reading_ = true;
  call_.read();
}

void Stream::decode() {
  if (decoding_ || kind_timer_.waiting() || inbox_.empty() || !decoded_.empty()) return;
  decoding_ = true;
  in_work_ = inbox_.size();
  with_->host.blocking(dialect_.pool,
                       [this, round = round_, messages = std::exchange(inbox_, {})]() mutable {
                         auto what = std::make_shared<Decoded>(decoded_now(std::move(messages)));
                         strand_.post([this, round, what] { decoded(round, std::move(*what)); });
                       });
}

// On the kind's pool.
Stream::Decoded Stream::decoded_now(std::deque<Buffer> messages) const {
  Decoded out;
  const auto until = with_->host.now() + decoded_at_once;
  while (!messages.empty() && (out.batches.empty() || with_->host.now() < until)) {
    auto batch = dialect_.decode(messages.front());
    if (!batch.ok()) {
      out.error = batch.error();
      break;
    }
    out.batches.push_back(std::move(*batch));
    messages.pop_front();
  }
  out.rest = std::move(messages);
  return out;
}

void Stream::decoded(uint64_t round, Decoded what) {
  decoding_ = false;
  if (stopped_) return close_when_idle();
  if (round != round_) return decode();
  in_work_ = 0;
  inbox_.insert(inbox_.begin(), std::make_move_iterator(what.rest.begin()),
                std::make_move_iterator(what.rest.end()));
  decoded_ = std::move(what.batches);
  stuck_ = std::move(what.error);
  if (!decoded_.empty()) {
    kind_delay_.reset();
    if (std::exchange(delay_said_, false)) say_delayed({});
  }
  if (!feeding_) take_next();
}

// Takes in the next message. When none is decoded, decodes more, or ends with the call.
void Stream::take_next() {
  if (!decoded_.empty()) {
    Batch batch = std::move(decoded_.front());
    decoded_.pop_front();
    return take(std::move(batch));
  }
  if (stuck_) {
    const Error why = *std::exchange(stuck_, std::nullopt);
    return retryable(why.code) ? wait_for_kind(why) : unreadable(why);
  }
  decode();
  if (busy() || !ended_) return;
  handle_end(*std::exchange(ended_, std::nullopt));
}

void Stream::unreadable(const Error& why) {
  trouble(why);
  forget_messages();
  if (call_) return call_.cancel();
  if (ended_) handle_end(*std::exchange(ended_, std::nullopt));
}

// The stream waits, so nothing passes the message.
void Stream::wait_for_kind(const Error& why) {
  const auto wait = kind_delay_.next(with_->host.random(), why.retry_after);
  if (kind_delay_.failures() == told_after) {
    with_->host.warn("changes wait for their kind", {{"kind", kind_}, {"reason", why.message}});
    delay_said_ = true;
    say_delayed(why.message);
  }
  kind_timer_.after(wait, [this] { decode(); });
}

// Empty: it is over.
void Stream::say_delayed(const std::string& why) {
  if (!with_->status) return;
  with_->status->issue(region_, {kind_,
                                 {},
                                 {},
                                 "changes",
                                 Version(),
                                 why.empty() ? "" : DAVIT_ISSUE_DELAYED,
                                 why,
                                 tracker_.incarnation()});
}

// The call is about to end, or the stream stops. A later call brings them again.
void Stream::forget_messages() {
  ++round_;
  inbox_.clear();
  decoded_.clear();
  in_work_ = 0;
  stuck_.reset();
  kind_timer_.cancel();
}

}  // namespace davit::watcher
