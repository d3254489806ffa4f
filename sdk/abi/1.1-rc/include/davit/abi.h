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
 *    to sizeof. Fields and slots are appended, never removed and never moved. Read a field that is
 *    newer than ABI 1.0 only when DAVIT_HAS(p, field) is true. A struct that never grows says so.
 *    Only such a struct is ever a member of another one, an element of an array or passed by value.
 *    One that grows is passed by pointer, and many of them as an array of pointers.
 *  - Structs that a callee fills in. The caller zeroes it and sets its struct_size. The callee
 *    writes no byte beyond that size, whatever its own size is, and leaves struct_size as it is. So
 *    a field that an older callee does not know is zero.
 *  - Memory. Arguments are borrowed for the call, unless the slot says otherwise. Neither side
 *    frees the other side's memory. Results of any length come back through a visitor or a sink
 *    while the call runs.
 *  - Buffers (davit_buf) are immutable and reference-counted. Any thread may retain and release
 *    them.
 *  - Exceptions. None leaves a function that the other side calls: no slot, no callback, no visitor
 *    and no sink. A slot that returns an error returns INTERNAL. A slot or callback that does not
 *    ends the process and names itself. A visitor asks its caller to stop and raises its exception
 *    again when the slot has returned. exceptions.hpp does all three.
 *  - Types. No C++ type, enum, bool or long crosses the boundary. Both sides tolerate unknown
 *    codes.
 *  - Flags. The lower 16 bits of every `flags` are hints: who does not know one ignores it. The
 *    upper 16 bits are critical (DAVIT_CRITICAL): they change what is asked for. A slot that gets a
 *    critical bit that it does not know does nothing and answers UNIMPLEMENTED with an error that
 *    names the struct. In what a callee fills in or visits, it sets a critical bit of a later minor
 *    only for a caller that has shown that it knows it, by the struct's size or by a flag.
 *  - Reserved. A member `reserved` is zero when it is written, and nobody reads it.
 *  - Frozen. sdk/abi (installed as share/davit/abi) has copies of these headers. What stands in one
 *    of them stands here, and its README says how that is judged.
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
#include "abi/records.h" /* what stores keep and agents report */
#include "abi/rpc.h"     /* serving and calling RPC methods as bytes */
#include "abi/services.h" /* what the host offers: log, configuration, strands, clock, look-up, ... */
#include "abi/sink.h"     /* roles: change sink, status sink */
#include "abi/storage.h"      /* role: storage, and the host's commit queue in front of it */
#include "abi/storage_copy.h" /* optional, beside the role storage: backup, verify, restore */

#endif
