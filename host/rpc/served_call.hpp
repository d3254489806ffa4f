// ServedCall is the serving end of one call. It keeps the rules of davit/abi/rpc.h for every
// transport. What it asks of the network is in ServedCall::Transport, which a transport implements.
// What happens there the transport reports through the events.
//
// Rules kept here:
// * Reads are granted one at a time.
// * A write waits for on_writable, which comes as soon as the transport has room for one more.
// * on_cancel only asks the plugin to end the call. Only on_message and on_done follow it.
// * If a write waits for room, the end of the call waits for that write.
// * on_done comes once, and last.
//
// Two owners keep the call: on_call while it runs, and the transport until on_done has returned.
//
// Plugins call from any thread, so a mutex guards the state.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "account.hpp"
#include "call.hpp"
#include "callbacks.hpp"
#include "end.hpp"
#include "identity.hpp"
#include "method_registry.hpp"
#include "serving.hpp"

namespace davit::host {

class ServedCall final : public davit_rpc_call {
 public:
  // The network's side of one call. It has the call as a member.
  class Transport {
   public:
    // Under the call's mutex. None of these may raise an event.
    virtual void start_read() = 0;
    // Returns true if there is already room for another message. If false, `on_written` follows
    // when there is. With `last` this is the one answer of a method: keep it for send_end.
    // `headers` belong into the head of the answer, which the first write sends.
    virtual bool start_write(davit_buf* const* parts, size_t parts_count, bool last,
                             const Pairs& headers) = 0;
    // Sends the answer that was kept (if the code is OK), then the end. Once.
    virtual void send_end(const End&, const Pairs& headers) = 0;

    // Not under the mutex.
    // Closes the caller's connection. At any time before on_done.
    virtual void drop_connection() = 0;
    // The plugin takes the message that `on_read` brought. On the plugin's strand.
    virtual void on_taken() = 0;
    // Destroys the transport with its call. Once, last.
    virtual void destroy() = 0;

   protected:
    ~Transport() = default;
  };

  // What is known of a call when it is admitted.
  struct Admitted {
    const Method& method;
    IdentityPtr who;
    std::unique_ptr<Account> account;  // NULL: the call is not counted
    std::string peer;
    Pairs metadata;                   // the headers for the method
    int64_t deadline_ns = INT64_MAX;  // of the monotonic clock
  };
  ServedCall(Serving&, Admitted, Transport&);
  ~ServedCall();

  const Method& method() const { return call_.method; }
  const Identity& who() const { return *call_.who; }

  // Enters the call into the list of open calls and hands it to its plugin. The call may be
  // destroyed when this returns.
  void offer();
  // Asks the plugin to end the call: on_cancel, at most once.
  void ask_to_end();
  // Ends the call on the plugin's behalf, and asks the plugin to end it. The end that the plugin
  // then gives is ignored.
  void end_now(const End&);
  // Closes the connection of a caller that does not take the end of its call.
  void drop();
  // False if the call is already being destroyed.
  bool try_retain();
  void release();

  // Events. The transport's threads raise them.
  void on_read(Buffer message, bool ok);
  void on_written(bool ok);
  void on_cancelled() { ask_to_end(); }
  // The call is over, and no event follows. Leads to on_done, then release.
  void on_ended();
  // The error for a request that exceeds the method's limit. `bytes` says how large it is.
  Error too_large(const std::string& bytes) const;

  // davit_rpc_call
  void read() override;
  void write(davit_buf* const* parts, size_t parts_count) override;
  void accept(davit_strand*, const davit_rpc_handler*, void* self) override;
  void headers(const davit_pair*, size_t count) override;
  void finish(const davit_rpc_end&) override;
  const davit_identity* identity() const override { return call_.who->abi(); }
  davit_str metadata(davit_str key) const override;
  davit_str peer() const override { return str(call_.peer); }
  int64_t deadline_ns() const override { return call_.deadline_ns; }

 private:
  // Keeps the call alive while a slot runs: on_done may come on the strand in the meantime.
  class Hold {
   public:
    explicit Hold(ServedCall& c) : call_(c) {
      c.references_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Hold() { call_.release(); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    ServedCall& call_;
  };
  static void deliver_message(void*);
  static void deliver_writable(void*);
  static void deliver_cancel(void*);
  static void deliver_done(void*);
  void ask_locked();
  void grant_locked();
  void finish_locked(End);
  void send_end_locked();
  // Logs that a plugin broke the contract.
  void misused(const char* what) const;

  Serving& serving_;
  Admitted call_;
  Transport& transport_;
  std::atomic<int> references_{2};

  std::mutex mutex_;
  Callbacks callbacks_;
  Buffer incoming_;  // read and not delivered; empty: no more messages
  bool has_incoming_ = false;
  bool reading_ = false;   // a read is granted and not delivered
  bool expected_ = false;  // a read was granted
  Pairs headers_;
  bool writing_ = false;  // a write waits until the transport has room
  bool granted_ = false;  // on_writable is posted and not delivered
  bool wrote_ = false;
  bool asked_ = false;     // on_cancel was posted or will be
  bool finished_ = false;  // by the plugin, or on its behalf
  bool plugin_finished_ = false;
  bool sent_end_ = false;
  bool ended_ = false;
  End end_;
  bool cancel_delivered_ = false;  // strand only
};

}  // namespace davit::host
