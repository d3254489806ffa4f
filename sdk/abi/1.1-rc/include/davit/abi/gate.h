/* Role gate: decides whether this process is the one that works, of several that could. Plugins
 * that work behind a gate wait until it opens. */
#ifndef DAVIT_ABI_GATE_H
#define DAVIT_ABI_GATE_H

#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The gate has opened. `epoch` is greater than the epoch of every earlier opening, in any process.
 * 0: the gate has never opened, and its instance stops. */
typedef void (*davit_gate_opened)(void* ctx, uint64_t epoch);

/* A gate opens at most once and never closes. When the gate loses its right to be open, it ends the
 * process (davit.shutdown/1), so no plugin has to undo what it has begun. */
#define DAVIT_GATE "davit.gate/1"
typedef struct davit_gate {
  uint32_t struct_size;
  uint32_t reserved;
  /* Calls `opened` exactly once: at once when the gate is open, else later on any thread. The
   * latest time is while the gate's instance stops, which is after the waiting instance has
   * stopped. Legal from the waiting instance's start on. [any] */
  void (*wait)(davit_instance*, davit_gate_opened opened, void* ctx);
} davit_gate;

#ifdef __cplusplus
}
#endif
#endif
