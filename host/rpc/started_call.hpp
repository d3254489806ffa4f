// The calling end of one call: the rules of abi/rpc.h, whatever the transport. A transport derives
// it, does what the start_... hooks ask, and says what came of it with the on_... events.
//
// It reads one message ahead, granted or not: that is how the end of a call is noticed by a caller
// that grants no read, and it costs at most one message of memory. With a message waiting to be
// granted, the end waits behind it; cancel drops it.
//
// The mutex is for the transport's threads; hooks run under it, and events must not come from
// within a hook.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <davit/types.hpp>

#include "call.hpp"
#include "callbacks.hpp"
#include "end.hpp"

namespace davit::host {

class StartedCall : public davit_rpc_call {
 public:
  explicit StartedCall(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}

  // The first read-ahead. Once, when the transport is ready.
  void begin();
  // Instead of begin: the call never got anywhere.
  void fail(End);

  // davit_rpc_call
  void read() override;
  void write(davit_buf* const* parts, size_t parts_count) override;
  void half_close() override;
  void cancel() override;

 protected:
  // --- hooks, under the mutex
  // -----------------------------------------------------------------------
  virtual void start_read() = 0;
  virtual void start_write(davit_buf* const* parts, size_t parts_count) = 0;
  virtual void start_half_close() = 0;
  virtual void start_cancel() = 0;
  // Nothing will be started any more. Once.
  virtual void let_go() = 0;
  // The last thing that happens: the call is to be destroyed. On the strand, without the mutex.
  virtual void destroy() = 0;
  virtual void misused(const char* what) = 0;

  // --- events, from the transport's threads
  // ---------------------------------------------------------
  void on_read(Buffer message, bool ok);
  void on_headers(Pairs);  // before the first on_read; at most once
  void on_written(bool ok);
  // By the caller; not under the mutex.
  bool is_cancelled();
  // Everything is over and no event follows: on_done, then destroy.
  void on_ended(End);

 private:
  static void deliver_message(void*);
  static void deliver_headers(void*);
  static void deliver_writable(void*);
  static void deliver_done(void*);
  void deliver_locked(Buffer message);
  void close_locked();

  Callbacks callbacks_;
  std::mutex mutex_;
  std::optional<Pairs> headers_;
  Buffer ahead_;     // read and not granted
  Buffer incoming_;  // granted and not delivered; empty: no more messages
  bool granted_ = false;
  bool delivering_ = false;
  bool writing_ = false;
  bool half_closed_ = false;
  bool cancelled_ = false;
  bool closed_ = false;  // nothing is started any more
  bool ended_ = false;   // on_done is posted: nothing is posted any more
  End end_;
};

}  // namespace davit::host
