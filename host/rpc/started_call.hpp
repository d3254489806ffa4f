// StartedCall is the calling end of one call. It keeps the rules of davit/abi/rpc.h for every
// transport. What it asks of the network is in StartedCall::Transport, which a transport
// implements. What happens there the transport reports through the events.
//
// It reads one message ahead, whether the plugin has granted a read or not. So a plugin that grants
// no read still hears of the end of the call, at the cost of at most one message of memory. If a
// message waits to be granted, the end waits behind it. A cancel drops that message.
//
// A mutex guards the state, because the transport has its own threads.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include <davit/types.hpp>

#include "call.hpp"
#include "callbacks.hpp"
#include "end.hpp"

namespace davit::host {

class Caller;

class StartedCall final : public davit_rpc_call {
 public:
  // The network's side of one call. It has the call as a member.
  class Transport {
   public:
    // Under the call's mutex. None of these may raise an event.
    virtual void start_read() = 0;
    virtual void start_write(davit_buf* const* parts, size_t parts_count) = 0;
    virtual void start_half_close() = 0;
    virtual void start_cancel() = 0;
    // Nothing is started after this. Once.
    virtual void let_go() = 0;

    // Destroys the transport with its call. Once, last; on the strand, without the mutex.
    virtual void destroy() = 0;

   protected:
    ~Transport() = default;
  };

  // The caller must list the call (Caller::begun) before it begins.
  StartedCall(Caller& caller, std::string path, Callbacks callbacks, Transport& transport)
      : caller_(caller),
        path_(std::move(path)),
        callbacks_(std::move(callbacks)),
        transport_(transport) {}

  // Starts the first read ahead. Once, when the transport is ready.
  void begin();
  // Ends a call that could not be started. Use it in place of `begin`.
  void fail(End);
  // Whether the plugin has cancelled the call. Not under the mutex.
  bool is_cancelled();

  // Events. The transport's threads raise them.
  void on_read(Buffer message, bool ok);
  void on_headers(Pairs);  // before the first on_read; at most once
  void on_written(bool ok);
  // The call is over, and no event follows. Leads to on_done, then destroy.
  void on_ended(End);

  // davit_rpc_call
  void read() override;
  void write(davit_buf* const* parts, size_t parts_count) override;
  void half_close() override;
  void cancel() override;

 private:
  static void deliver_message(void*);
  static void deliver_headers(void*);
  static void deliver_writable(void*);
  static void deliver_done(void*);
  void deliver_locked(Buffer message);
  void close_locked();
  void end_with(End);
  // Logs that a plugin broke the contract.
  void misused(const char* what) const;

  Caller& caller_;
  const std::string path_;
  Callbacks callbacks_;
  Transport& transport_;
  std::mutex mutex_;
  std::optional<Pairs> headers_;
  Buffer ahead_;     // read before the plugin granted a read
  Buffer incoming_;  // granted and not delivered; empty: no more messages
  bool granted_ = false;
  bool delivering_ = false;
  bool writing_ = false;
  bool half_closed_ = false;
  bool cancelled_ = false;
  bool closed_ = false;  // nothing more is started
  bool ended_ = false;   // on_done is posted, and nothing after it
  End end_;
};

}  // namespace davit::host
