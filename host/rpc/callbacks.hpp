// Callbacks holds the strand and the handler that a plugin gave for a call. ServedCall and
// StartedCall post their events to the plugin through it. Posting does not allocate.
#pragma once

#include <davit/types.hpp>

#include "end.hpp"

namespace davit::host {

class Callbacks {
 public:
  Callbacks() = default;
  Callbacks(davit_strand*, const davit_rpc_handler*, void* self);  // retains the strand
  ~Callbacks();
  Callbacks(Callbacks&&) noexcept;
  Callbacks& operator=(Callbacks&&) noexcept;

  explicit operator bool() const { return strand_ != nullptr; }
  // Runs `task(arg)` on the strand, after all tasks posted before. [any]
  void post(davit_task task, void* arg) const;
  // Like `post`, for a task that may destroy this object and its owner. The caller must not hold a
  // lock of the owner.
  void post_last(davit_task task, void* arg) const;

  // On the strand only.
  void message(davit_buf* m) const;
  void writable() const;
  void cancel() const;
  void done(const End&) const;
  void headers(const Pairs&) const;

 private:
  davit_strand* strand_ = nullptr;
  const davit_rpc_handler* handler_ = nullptr;
  void* self_ = nullptr;
};

}  // namespace davit::host
