#include "started_call.hpp"

#include "caller.hpp"

namespace davit::host {

void StartedCall::begin() {
  const std::lock_guard lock(mutex_);
  transport_.start_read();
}

void StartedCall::fail(End end) {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  end_with(std::move(end));
}

void StartedCall::misused(const char* what) const {
  caller_.log_misuse(path_, what);
}

void StartedCall::read() {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  if (granted_ || delivering_) return misused("read again before on_message");
  if (ahead_) {
    deliver_locked(std::move(ahead_));
    if (!closed_) transport_.start_read();
  } else if (closed_) {
    deliver_locked({});
  } else {
    granted_ = true;
  }
}

void StartedCall::write(davit_buf* const* parts, size_t parts_count) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;  // on_done is on its way
  if (writing_ || half_closed_)
    return misused("wrote again before on_writable, or after half_close");
  writing_ = true;
  transport_.start_write(parts, parts_count);
}

void StartedCall::half_close() {
  const std::lock_guard lock(mutex_);
  if (closed_ || half_closed_) return;
  half_closed_ = true;
  transport_.start_half_close();
}

bool StartedCall::is_cancelled() {
  const std::lock_guard lock(mutex_);
  return cancelled_;
}

void StartedCall::cancel() {
  const std::lock_guard lock(mutex_);
  if (cancelled_) return;
  cancelled_ = true;
  ahead_ = {};
  if (closed_) return;
  transport_.start_cancel();
  close_locked();
}

void StartedCall::close_locked() {
  closed_ = true;
  transport_.let_go();
}

void StartedCall::deliver_locked(Buffer message) {
  incoming_ = std::move(message);
  delivering_ = true;
  callbacks_.post(&deliver_message, this);
}

void StartedCall::on_read(Buffer message, bool ok) {
  const std::lock_guard lock(mutex_);
  if (!ok) {
    if (!closed_) close_locked();
    if (std::exchange(granted_, false)) deliver_locked({});
    return;
  }
  if (closed_) return;  // cancelled: drop the message
  if (std::exchange(granted_, false)) {
    deliver_locked(std::move(message));
    transport_.start_read();
  } else {
    ahead_ = std::move(message);
  }
}

void StartedCall::on_headers(Pairs headers) {
  caller_.is_answered();
  const std::lock_guard lock(mutex_);
  if (ended_ || headers_) return;
  headers_ = std::move(headers);
  callbacks_.post(&deliver_headers, this);
}

void StartedCall::on_written(bool ok) {
  const std::lock_guard lock(mutex_);
  writing_ = false;
  if (ok && !closed_ && !half_closed_) callbacks_.post(&deliver_writable, this);
}

void StartedCall::on_ended(End end) {
  caller_.describe(end);
  end_with(std::move(end));
}

void StartedCall::end_with(End end) {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    end_ = std::move(end);
  }
  callbacks_.post_last(&deliver_done, this);
}

void StartedCall::deliver_message(void* arg) {
  auto* self = static_cast<StartedCall*>(arg);
  Buffer message;
  {
    const std::lock_guard lock(self->mutex_);
    message = std::move(self->incoming_);
    self->delivering_ = false;
  }
  self->callbacks_.message(message.get());
}

void StartedCall::deliver_headers(void* arg) {
  auto* self = static_cast<StartedCall*>(arg);
  self->callbacks_.headers(*self->headers_);  // not changed after it was set
}

void StartedCall::deliver_writable(void* arg) {
  auto* self = static_cast<StartedCall*>(arg);
  self->callbacks_.writable();
}

void StartedCall::deliver_done(void* arg) {
  auto* self = static_cast<StartedCall*>(arg);
  self->callbacks_.done(self->end_);
  self->caller_.ended(self);
  self->transport_.destroy();
}

}  // namespace davit::host
