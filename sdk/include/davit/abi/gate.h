/* Role gate: whether this process is the one that works. Whoever has a gate waits until it opens.
 */
#ifndef DAVIT_ABI_GATE_H
#define DAVIT_ABI_GATE_H

#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gate is open. `epoch` is greater than that of everybody for whom it was open before, in any
 * process. 0: it never opened, and its instance stops. */
typedef void (*davit_gate_opened)(void* ctx, uint64_t epoch);

/* A gate opens at most once and never closes: what is lost while it is open ends the process
 * (davit.shutdown/1), so nobody has to be able to take back what he has begun. */
#define DAVIT_GATE "davit.gate/1"
typedef struct davit_gate {
  uint32_t struct_size;
  uint32_t reserved;
  /* Calls opened exactly once: at once when the gate is open, else on any thread, at the latest
   * while the gate's instance stops, which is after the waiter's. From the waiter's start on.
   * [any] */
  void (*wait)(davit_instance*, davit_gate_opened opened, void* ctx);
} davit_gate;

#ifdef __cplusplus
}
#endif
#endif
