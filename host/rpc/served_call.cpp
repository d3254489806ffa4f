#include "served_call.hpp"

#include "services/log.hpp"

namespace davit::host {

ServedCall::ServedCall(Serving& serving, Admitted call, Transport& transport)
    : serving_(serving), call_(std::move(call)), transport_(transport) {}

// The server may be destroyed once the list has no call.
ServedCall::~ServedCall() {
  call_.account.reset();
  serving_.open.remove(this);
}

void ServedCall::offer() {
  serving_.open.add(this);
  // If the server has begun to shut down in the meantime, it has not seen this call.
  if (serving_.open.draining() && method().streams_answers()) ask_to_end();
  method().on_call(method().self, this);
  release();
}

bool ServedCall::try_retain() {
  int n = references_.load(std::memory_order_relaxed);
  while (n > 0 && !references_.compare_exchange_weak(n, n + 1, std::memory_order_acq_rel)) {
  }
  return n > 0;
}

void ServedCall::release() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) transport_.destroy();
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
  if (!std::exchange(expected_, true) && !method().streams_requests()) serving_.open.expect(this);
  transport_.start_read();
}

void ServedCall::write(davit_buf* const* parts, size_t parts_count) {
  const Hold hold(*this);
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  if (writing_ || granted_) {
    misused("wrote again before on_writable");
    ask_locked();
    return finish_locked({Code::internal, "the method wrote out of turn"});
  }
  writing_ = wrote_ = true;
  const bool only_answer = !method().streams_answers();
  const bool room = transport_.start_write(parts, parts_count, only_answer, headers_);
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
  transport_.drop_connection();
}

void ServedCall::finish_locked(End end) {
  finished_ = true;
  end_ = std::move(end);
  if (call_.account) call_.account->ended(end_, plugin_finished_);
  const bool wait_for_write = writing_ && method().streams_answers();
  if (!wait_for_write) send_end_locked();
}

void ServedCall::send_end_locked() {
  sent_end_ = true;
  // The server asked for such an end. The caller is to come back, here or elsewhere.
  const bool asked_by_us = end_.code == Code::cancelled || end_.code == Code::unavailable;
  if (asked_by_us && serving_.open.draining()) end_ = serving_.going_down;
  transport_.send_end(end_, headers_);
}

void ServedCall::misused(const char* what) const {
  serving_.log.error("rpc", "method broke the contract",
                     {{"instance", method().instance}, {"method", method().path}, {"what", what}});
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

davit_str ServedCall::metadata(davit_str key) const {
  for (const auto& [name, value] : call_.metadata) {
    if (name == view(key)) return str(value);
  }
  return {};
}

Error ServedCall::too_large(const std::string& bytes) const {
  return {Code::resource_exhausted, "request of " + bytes + " bytes is larger than the limit of " +
                                        std::to_string(method().request_bytes_max) + " bytes of " +
                                        method().path};
}

void ServedCall::on_read(Buffer message, bool ok) {
  if (!method().streams_requests()) serving_.open.arrived(this);
  const std::lock_guard lock(mutex_);
  if (ok && message.size() > method().request_bytes_max) {
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
    if (!sent_end_) send_end_locked();
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
  self->transport_.on_taken();
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
