// The handle of a call in the ABI (davit_rpc_call). ServedCall implements it at the serving end and
// StartedCall at the calling end. A slot of the other end does nothing.
#pragma once

#include <davit/abi/rpc.h>

struct davit_rpc_call {
  davit_rpc_call() = default;
  davit_rpc_call(const davit_rpc_call&) = delete;
  davit_rpc_call& operator=(const davit_rpc_call&) = delete;

  virtual void read() = 0;
  virtual void write(davit_buf* const* parts, size_t parts_count) = 0;

  // Serving end.
  virtual void accept(davit_strand*, const davit_rpc_handler*, void* /*self*/) {}
  virtual void finish(const davit_rpc_end&) {}
  virtual const davit_identity* identity() const { return nullptr; }
  virtual davit_str metadata(davit_str /*key*/) const { return {}; }
  virtual davit_str peer() const { return {}; }
  virtual void headers(const davit_pair*, size_t /*count*/) {}
  virtual int64_t deadline_ns() const { return INT64_MAX; }

  // Calling end.
  virtual void half_close() {}
  virtual void cancel() {}

 protected:
  virtual ~davit_rpc_call() = default;
};
