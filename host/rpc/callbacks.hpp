// The plugin's end of a call: its strand and its handler. Posts one callback after the other
// without allocating.
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
  // Runs `task(arg)` on the strand, after everything that was posted before. [any]
  void post(davit_task task, void* arg) const;
  // The same for a task after which this object, and what owns it, may be gone: not with a lock of
  // the owner held.
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
