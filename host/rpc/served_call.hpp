// The serving end of one call: the rules of abi/rpc.h, whatever the transport. A transport derives
// it, does what the start_... hooks ask, and says what came of it with the on_... events.
//
// Rules kept here: reads are granted one at a time; a write waits for on_writable, which comes as
// soon as the transport has room for one more; on_cancel only asks and nothing but on_message and
// on_done follows it; a finish waits for the write that waits for room; on_done comes once and
// last. Two owners keep the call: on_call, while it runs, and the transport, until on_done has
// returned.
//
// Plugins call from any thread, hence the mutex. Hooks run under it; events must not come from
// within a hook.
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

  // Whether a header that came with a call goes on to its plugin: neither credentials nor what
  // HTTP, the protocol and libraries say of themselves, which a stream would keep for days.
  static bool is_for_the_method(std::string_view header);

  const Method& method() const { return method_; }
  const Identity& who() const { return *identity_; }
  // What it counts for, until it goes. Before `offer`.
  void keep(std::unique_ptr<Account> account) { account_ = std::move(account); }

  // Hands the call to its plugin; the call may be gone when this returns.
  void offer();
  // Asks the plugin to end the call: on_cancel, once.
  void ask_to_end();
  // Ends the call on the plugin's behalf, which is asked to end it, too; what it finishes with does
  // not count.
  void end_now(const End&);
  // For a caller that does not take the end of its call: its connection is closed.
  void drop();
  // False when the call is going away already.
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
  // --- hooks, under the mutex
  // -----------------------------------------------------------------------
  virtual void start_read() = 0;
  // True: there is room for the next one already. False: `on_written` says when there is. With
  // `last`, the write of a method that has one answer: keep it for send_end.
  virtual bool start_write(davit_buf* const* parts, size_t parts_count, bool last) = 0;
  // Sends what was kept (if the code is OK), then the end. Once.
  virtual void send_end(End&) = 0;
  // What the plugin wants in the head of the answer: for the first write, or the end.
  const Pairs& headers_to_send() const { return headers_; }
  // A plugin broke the contract; the call ends with INTERNAL.
  virtual void misused(const char* what) = 0;
  // Not under the mutex; at any time before on_done.
  virtual void drop_connection() {}
  // Not under the mutex, on the plugin's strand: what `on_read` brought is the plugin's now.
  virtual void on_taken() {}

  // --- events, from the transport's threads
  // ---------------------------------------------------------
  void on_read(Buffer message, bool ok);
  // What a request of so many bytes is answered.
  Error too_large(const std::string& bytes) const;
  void on_written(bool ok);
  void on_cancelled() { ask_to_end(); }
  // Everything is over and no event follows: on_done, then release.
  void on_ended();

 private:
  // Keeps the call while a slot runs: its end may come meanwhile, on the strand.
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
  Buffer incoming_;  // read, not yet delivered; empty: no more messages
  bool has_incoming_ = false;
  bool reading_ = false;  // granted and not yet delivered
  Pairs headers_;
  bool writing_ = false;  // until the transport has room
  bool granted_ = false;  // the next write, and the plugin has not been told
  bool wrote_ = false;
  bool asked_ = false;     // the plugin is to be asked, or was
  bool finished_ = false;  // by the plugin or on its behalf
  bool plugin_finished_ = false;
  bool sent_end_ = false;
  bool ended_ = false;
  End end_;
  bool cancel_delivered_ = false;  // strand only
};

}  // namespace davit::host
