// ServedCall is the serving end of one call. It keeps the rules of davit/abi/rpc.h for every
// transport. A transport derives from it, implements the hooks, and reports what happens through
// the events.
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
// Plugins call from any thread, so a mutex guards the state. Hooks run under the mutex. An event
// must not be raised from within a hook.
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

namespace davit::host {

class ServedCall : public davit_rpc_call {
 public:
  ServedCall(const Method& method, IdentityPtr identity)
      : method_(method), identity_(std::move(identity)) {}

  // Whether a request header is passed to the plugin. Credentials and the headers of HTTP, of the
  // protocol and of libraries are not: a stream would keep them in memory for days.
  static bool is_for_the_method(std::string_view header);

  const Method& method() const { return method_; }
  const Identity& who() const { return *identity_; }
  // Keeps the call's account until the call is destroyed. Before `offer`. The call may have been
  // ended by then, as one of a credential that was revoked in this moment is.
  void keep(std::unique_ptr<Account> account);

  // Hands the call to its plugin. The call may be destroyed when this returns.
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

  // davit_rpc_call
  void read() override;
  void write(davit_buf* const* parts, size_t parts_count) override;
  void accept(davit_strand*, const davit_rpc_handler*, void* self) override;
  void headers(const davit_pair*, size_t count) override;
  void finish(const davit_rpc_end&) override;
  const davit_identity* identity() const override { return identity_->abi(); }

 protected:
  // Hooks. They run under the mutex, unless noted.
  virtual void start_read() = 0;
  // Returns true if there is already room for another message. If false, `on_written` follows when
  // there is. With `last` this is the one answer of a method: keep it for send_end.
  virtual bool start_write(davit_buf* const* parts, size_t parts_count, bool last) = 0;
  // Sends the answer that was kept (if the code is OK), then the end. Once.
  virtual void send_end(End&) = 0;
  // The plugin's headers for the head of the answer. Send them with the first write, or with the
  // end.
  const Pairs& headers_to_send() const { return headers_; }
  // Logs that a plugin broke the contract. After a write out of turn the call also ends with
  // INTERNAL.
  virtual void misused(const char* what) = 0;
  // Closes the caller's connection. Not under the mutex; at any time before on_done.
  virtual void drop_connection() {}
  // The plugin takes the message that `on_read` brought. Not under the mutex, on the plugin's
  // strand.
  virtual void on_taken() {}

  // Events. The transport's threads raise them.
  void on_read(Buffer message, bool ok);
  // The error for a request that exceeds the method's limit. `bytes` says how large it is.
  Error too_large(const std::string& bytes) const;
  void on_written(bool ok);
  void on_cancelled() { ask_to_end(); }
  // The call is over, and no event follows. Leads to on_done, then release.
  void on_ended();

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

  const Method& method_;
  const IdentityPtr identity_;
  std::unique_ptr<Account> account_;
  std::atomic<int> references_{2};

  std::mutex mutex_;
  Callbacks callbacks_;
  Buffer incoming_;  // read and not delivered; empty: no more messages
  bool has_incoming_ = false;
  bool reading_ = false;  // a read is granted and not delivered
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
