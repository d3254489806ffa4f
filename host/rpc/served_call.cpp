#include "served_call.hpp"

#include <algorithm>
#include <array>

namespace davit::host {

void ServedCall::offer() {
  method_.on_call(method_.self, this);
  release();
}

bool ServedCall::try_retain() {
  int n = references_.load(std::memory_order_relaxed);
  while (n > 0 && !references_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) {
  }
  return n > 0;
}

void ServedCall::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

void ServedCall::accept(davit_strand* strand, const davit_rpc_handler* handler, void* self) {
  const Hold hold(*this);
  {
    const std::lock_guard lock(mutex_);
    if (callbacks_) return misused("accepted twice");
    callbacks_ = Callbacks(strand, handler, self);
    if (has_incoming_) callbacks_.post(&deliver_message, this);
    if (asked_) callbacks_.post(&deliver_cancel, this);
    if (!ended_) return;
  }
  callbacks_.post_last(&deliver_done, this);
}

void ServedCall::read() {
  const Hold hold(*this);
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (reading_) return misused("read again before on_message");
  reading_ = true;
  start_read();
}

void ServedCall::write(davit_buf* const* parts, size_t parts_count) {
  const Hold hold(*this);
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (writing_ || granted_) {
    misused("wrote again before on_writable");
    ask_locked();
    return finish_locked({Code::internal, "the method wrote out of turn", {}});
  }
  writing_ = wrote_ = true;
  const bool only_answer = !method_.streams_answers();
  const bool room = start_write(parts, parts_count, only_answer);
  if (only_answer) {
    if (callbacks_) callbacks_.post(&deliver_writable, this);  // the answer is kept for the end
  } else if (room) {
    writing_ = false;
    grant_locked();
  }
}

void ServedCall::grant_locked() {
  if (!callbacks_ || asked_) return;
  granted_ = true;
  callbacks_.post(&deliver_writable, this);
}

void ServedCall::headers(const davit_pair* headers, size_t count) {
  const Hold hold(*this);
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (wrote_) return misused("headers after a write");
  for (auto& pair : from_abi(headers, count)) headers_.push_back(std::move(pair));
}

void ServedCall::finish(const davit_rpc_end& end) {
  const Hold hold(*this);
  const std::lock_guard lock(mutex_);
  if (plugin_finished_) return;
  plugin_finished_ = true;
  if (!finished_) finish_locked(End::from(end));
  // The call was ended on the plugin's behalf and never accepted, so nobody gets on_done. `hold`
  // has a reference of its own, so the call survives this release.
  if (ended_ && !callbacks_) release();
}

void ServedCall::keep(std::unique_ptr<Account> account) {
  const std::lock_guard lock(mutex_);
  account_ = std::move(account);
  if (account_ && finished_) account_->ended(end_, plugin_finished_);
}

void ServedCall::end_now(const End& end) {
  const std::lock_guard lock(mutex_);
  ask_locked();
  if (finished_) return;
  finish_locked(end);
}

void ServedCall::drop() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
  }
  drop_connection();
}

void ServedCall::finish_locked(End end) {
  finished_ = true;
  end_ = std::move(end);
  if (account_) account_->ended(end_, plugin_finished_);
  const bool wait_for_write = writing_ && method_.streams_answers();
  if (wait_for_write) return;
  sent_end_ = true;
  send_end(end_);
}

void ServedCall::ask_to_end() {
  const std::lock_guard lock(mutex_);
  ask_locked();
}

void ServedCall::ask_locked() {
  if (asked_ || finished_) return;
  asked_ = true;
  if (callbacks_ && !ended_) callbacks_.post(&deliver_cancel, this);
}

bool ServedCall::is_for_the_method(std::string_view header) {
  static constexpr std::array<std::string_view, 12> ours = {
      "authorization", "user-agent", "accept-encoding",   "accept", "host",   "te",
      "connection",    "expect",     "transfer-encoding", "origin", "cookie", "upgrade"};
  return std::find(ours.begin(), ours.end(), header) == ours.end() &&
         !header.starts_with("grpc-") && !header.starts_with("connect-") &&
         !header.starts_with("content-");
}

Error ServedCall::too_large(const std::string& bytes) const {
  return {Code::resource_exhausted,
          "request of " + bytes + " bytes is larger than the limit of " +
              std::to_string(method_.request_bytes_max) + " bytes of " + method_.path,
          {},
          {}};
}

void ServedCall::on_read(Buffer message, bool ok) {
  const std::lock_guard lock(mutex_);
  if (ok && message.size() > method_.request_bytes_max) {
    reading_ = false;
    ask_locked();
    if (finished_) return;
    return finish_locked(End::of(too_large(std::to_string(message.size()))));
  }
  incoming_ = ok ? std::move(message) : Buffer();
  has_incoming_ = true;
  if (callbacks_) callbacks_.post(&deliver_message, this);
}

void ServedCall::on_written(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (finished_) {
    if (!sent_end_) {
      sent_end_ = true;
      send_end(end_);
    }
    return;
  }
  if (ok) grant_locked();
}

void ServedCall::on_ended() {
  bool accepted = false, nobody = false;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    accepted = static_cast<bool>(callbacks_);
    // If the plugin finished the call without accepting it, nobody gets on_done. If the call was
    // ended on the plugin's behalf, the handle stays until the plugin accepts or finishes.
    nobody = !accepted && plugin_finished_;
  }
  if (accepted) callbacks_.post_last(&deliver_done, this);
  if (nobody) release();
}

void ServedCall::deliver_message(void* arg) {
  auto* self = static_cast<ServedCall*>(arg);
  Buffer message;
  {
    const std::lock_guard lock(self->mutex_);
    message = std::move(self->incoming_);
    self->has_incoming_ = false;
    self->reading_ = false;
  }
  self->on_taken();
  self->callbacks_.message(message.get());
}

void ServedCall::deliver_writable(void* arg) {
  auto* self = static_cast<ServedCall*>(arg);
  {
    const std::lock_guard lock(self->mutex_);
    self->granted_ = false;
    if (self->finished_) return;
  }
  if (!self->cancel_delivered_) self->callbacks_.writable();
}

void ServedCall::deliver_cancel(void* arg) {
  auto* self = static_cast<ServedCall*>(arg);
  {
    const std::lock_guard lock(self->mutex_);
    if (self->plugin_finished_) return;
  }
  self->cancel_delivered_ = true;
  self->callbacks_.cancel();
}

void ServedCall::deliver_done(void* arg) {
  auto* self = static_cast<ServedCall*>(arg);
  self->callbacks_.done(self->end_);
  self->release();
}

}  // namespace davit::host
