// What gRPC orders, said to ThreadSanitizer. The distribution's gRPC is not instrumented: that an
// operation starts before its callback, and that a call's callbacks end before its last one, would
// not be seen. Without ThreadSanitizer all of this is nothing.
#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace davit::host {

// Before a reactor's operation is started.
inline void before_operation([[maybe_unused]] void* reactor) {
#ifdef __SANITIZE_THREAD__
  __tsan_release(reactor);
#endif
}

// First in a reactor's OnDone.
inline void after_operations([[maybe_unused]] void* reactor) {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(reactor);
#endif
}

// Lives as long as any other callback of a reactor.
class InCallback {
 public:
  explicit InCallback(void* reactor) : reactor_(reactor) { after_operations(reactor_); }
  ~InCallback() { before_operation(reactor_); }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;

 private:
  void* const reactor_;
};

}  // namespace davit::host
