/* The plugin ABI, version 1: everything that crosses between the host and a plugin.
 *
 * The headers are C99 and include only <stddef.h> and <stdint.h>. A plugin is a shared object that
 * exports exactly one symbol, davit_plugin_entry_v1. It carries an ELF note (abi/core.h), which the
 * host reads before it runs one instruction of the plugin. The C++20 wrapper beside this header
 * makes the common case short. Everything that the wrapper does can be done in C against this
 * header alone.
 *
 * Rules that hold for every declaration in these headers:
 *  - Sizes. `struct_size` comes first in every struct that may grow, and the struct's owner sets it
 *    to sizeof. Read a field only when DAVIT_HAS(p, field) is true. Fields and slots are appended,
 *    never removed and never moved. A struct that never grows says so.
 *  - Memory. Arguments are borrowed for the call, unless the slot says otherwise. Neither side
 *    frees the other side's memory. Results of any length come back through a visitor or a sink
 *    while the call runs.
 *  - Buffers (davit_buf) are immutable and reference-counted. Any thread may retain and release
 *    them.
 *  - Types. No exception, C++ type, enum, bool or long crosses the boundary. Both sides tolerate
 *    unknown codes.
 *  - Flags. The lower 16 bits of every `flags` are hints: who does not know one ignores it. The
 *    upper 16 bits are critical (DAVIT_CRITICAL): they change what is asked for. A slot that gets a
 *    critical bit that it does not know does nothing and answers UNIMPLEMENTED with an error that
 *    names the struct. In what a callee fills in or visits, it sets a critical bit of a later minor
 *    only for a caller that has shown that it knows it, by the struct's size or by a flag.
 *  - Reserved. A member `reserved` is zero when it is written, and nobody reads it.
 *  - Threads. [any]: any thread may call the slot, and the slot does not block. [pool]: the call
 *    runs on a thread of the instance's pool, where it may block. [strand]: the call is serialised
 *    with everything else on the strand that was given. [main]: the host's loading thread.
 */
#ifndef DAVIT_ABI_H
#define DAVIT_ABI_H

#include "abi/cluster.h" /* role: cluster */
#include "abi/core.h"    /* strings, buffers, errors, the plugin entry */
#include "abi/gate.h"    /* role: gate */
#include "abi/kind.h"    /* role: kind */
#include "abi/rpc.h"     /* serving and calling RPC methods as bytes */
#include "abi/services.h" /* what the host offers: log, configuration, strands, clock, look-up, ... */
#include "abi/sink.h"     /* roles: change sink, status sink */
#include "abi/storage.h"      /* role: storage, and the host's commit queue in front of it */
#include "abi/storage_copy.h" /* optional, beside the role storage: backup, verify, restore */

#endif
