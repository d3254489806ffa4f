/* Strings, buffers, errors, operations and the plugin entry: the part every plugin needs. */
#ifndef DAVIT_ABI_CORE_H
#define DAVIT_ABI_CORE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DAVIT_ABI_MAJOR 1
#define DAVIT_ABI_MINOR 1

/* True when the struct that `p` points to is long enough to have `field`. For fields that are newer
 * than ABI 1.0; every struct has those of 1.0. */
#define DAVIT_HAS(p, field) \
  ((p)->struct_size >=      \
   (uint32_t)((size_t)((const char*)&(p)->field - (const char*)(p)) + sizeof((p)->field)))

/* A flag that must be understood: number n of the upper half of a `flags` (abi.h). */
#define DAVIT_CRITICAL(n) (UINT32_C(0x10000) << (n))
#define DAVIT_FLAGS_CRITICAL UINT32_C(0xffff0000)

/* UTF-8, not terminated, borrowed. Never grows. */
typedef struct davit_str {
  const char* ptr;
  size_t len;
} davit_str;
/* Borrowed bytes. Never grows. */
typedef struct davit_bytes {
  const uint8_t* ptr;
  size_t len;
} davit_bytes;
/* A name and a value: log field, label, header, annotation. Never grows. */
typedef struct davit_pair {
  davit_str key, value;
} davit_pair;

/* An immutable, reference-counted buffer. Its maker fills in retain and release. Any thread may
 * call both. A slot that takes a davit_buf* and keeps it retains it. */
typedef struct davit_buf {
  uint32_t struct_size;
  uint32_t reserved;
  const uint8_t* data;
  size_t size;
  void (*retain)(struct davit_buf*);
  void (*release)(struct davit_buf*);
} davit_buf;

/* Receives bytes of any length while a call runs. `write` may be called several times. Never
 * grows. */
typedef struct davit_sink {
  void* ctx;
  void (*write)(void* ctx, davit_bytes bytes);
} davit_sink;

/* Status codes: the canonical gRPC codes. What the caller should do:
 *  - 3, 9, 11, 12: fix the input, or read again;
 *  - 5: treat the thing as absent;
 *  - 7, 16: fix the credentials;
 *  - 4, 8, 10, 14: retry later;
 *  - 2, 13, 15: report the error. */
#define DAVIT_OK 0
#define DAVIT_CANCELLED 1
#define DAVIT_UNKNOWN 2
#define DAVIT_INVALID_ARGUMENT 3
#define DAVIT_DEADLINE_EXCEEDED 4
#define DAVIT_NOT_FOUND 5
#define DAVIT_ALREADY_EXISTS 6
#define DAVIT_PERMISSION_DENIED 7
#define DAVIT_RESOURCE_EXHAUSTED 8
#define DAVIT_FAILED_PRECONDITION 9
#define DAVIT_ABORTED 10
#define DAVIT_OUT_OF_RANGE 11
#define DAVIT_UNIMPLEMENTED 12
#define DAVIT_INTERNAL 13
#define DAVIT_UNAVAILABLE 14
#define DAVIT_DATA_LOSS 15
#define DAVIT_UNAUTHENTICATED 16

/* The callee fills it in when it returns anything but DAVIT_OK. The memory is the caller's, who
 * zeroes it. Texts are zero-terminated and cut to fit. `where` names what the error is about: a
 * configuration key, a field path, an object. Never grows. */
typedef struct davit_error {
  int32_t code;
  uint32_t retry_after_ms; /* 0 = not stated */
  char where[256];
  char message[768];
} davit_error;

/* One registration with an op: on_cancel gives it, off_cancel ends it. */
typedef struct davit_op_watch davit_op_watch;

/* The context of one long call: how long its caller waits, and whether it still does. The caller
 * makes it. It is never NULL, in any slot. It is borrowed for the call; an op of a slot that
 * answers through a callback (`done`) lives until that callback has begun.
 *
 * A caller gives up by cancelling. It cannot take that back. A deadline that passes cancels
 * nothing: the callee watches the deadline itself, since it knows best what it waits for. A callee
 * that gives up answers CANCELLED or DEADLINE_EXCEEDED. One that has finished meanwhile answers
 * what came of it. */
typedef struct davit_op {
  uint32_t struct_size;
  uint32_t reserved;
  int64_t deadline_ns; /* on the host's monotonic clock; INT64_MAX = none */
  int32_t (*cancelled)(const struct davit_op*); /* [any] 1 when the caller no longer waits */
  davit_str trace;                              /* W3C traceparent, or empty */
  /* Asks to be told when the caller gives up. fn(ctx) is called once then, on any thread, or before
   * on_cancel returns when the caller already has. It is cheap: it wakes or interrupts somebody,
   * does not block, and calls neither on_cancel nor off_cancel of this op. Never returns NULL.
   * [any] */
  davit_op_watch* (*on_cancel)(const struct davit_op*, void (*fn)(void* ctx), void* ctx);
  /* Ends the registration, once, while the op lives. It waits for an fn of that registration that
   * runs. When it returns, none runs and none comes any more. Not to be called inside an fn, nor
   * under a lock that the fn takes. [any] */
  void (*off_cancel)(const struct davit_op*, davit_op_watch*);
} davit_op;

/* An instance of a plugin: opaque to the host. */
typedef struct davit_instance davit_instance;

/* The host as one instance sees it. `query` finds a service by its id ("davit.log/1"), and returns
 * NULL when this host does not offer it. This pointer and every service stay valid until destroy
 * returns. [any] */
typedef struct davit_host {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str instance; /* this instance's name in the configuration */
  const void* (*query)(const struct davit_host*, davit_str service_id);
} davit_host;

/* What a plugin exports: its name and version, and the steps of an instance's life. Static data;
 * the host never writes to it.
 *
 * The steps are create, wire, (check | start ... stop), destroy. The host calls each once, in this
 * order, on its loading thread [main] except where said. It calls stop only after a start that
 * succeeded, and destroy after every create that succeeded. */
typedef struct davit_plugin {
  uint32_t struct_size;
  uint16_t abi_minor; /* the DAVIT_ABI_MINOR that the plugin was built with */
  uint16_t reserved;
  davit_str name; /* the module's name: the same as in the file's name and in the note */
  davit_str version;
  davit_str summary; /* one line */
  /* The threads of the instance's pool for blocking calls, when the configuration does not say how
   * many; 0 = 1. `pool_threads` in [plugin.NAME] may say another number from pool_threads_min to
   * pool_threads_max. Both are 0 when the number is fixed. A plugin that must know the number in
   * force reads that key, too. */
  uint32_t max_concurrency;
  uint32_t pool_threads_min, pool_threads_max;
  uint32_t reserved2;
  /* Reads the configuration and the files that it names. No look-ups, no threads, no sockets. */
  int32_t (*create)(const davit_host*, davit_instance** out, davit_error*);
  /* Looks up other instances (davit_lookup) and registers methods (davit_rpc). Optional. */
  int32_t (*wire)(davit_instance*, davit_error*);
  /* Says for `davit check` whether start would succeed now. Changes nothing, takes no lock, binds
   * no port. Optional. */
  int32_t (*check)(davit_instance*, const davit_op*, davit_error*);
  /* Begins the work and returns soon. The host has started every instance that this one looked up.
   * The deadline of all of them is 60 s after the process began. Optional. */
  int32_t (*start)(davit_instance*, const davit_op*, davit_error*);
  /* Ends all work, and returns when none is left, within op's deadline. [pool] Optional. */
  int32_t (*stop)(davit_instance*, const davit_op*, davit_error*);
  void (*destroy)(davit_instance*);
  /* Returns the table of a role ("davit.storage/1"), or NULL when the instance does not play it.
   * The table's slots take the instance as their first argument. [any] */
  const void* (*query)(davit_instance*, davit_str interface_id);
} davit_plugin;

#if defined(__GNUC__)
#define DAVIT_EXPORT __attribute__((visibility("default")))
#else
#define DAVIT_EXPORT
#endif

/* The only exported symbol. It starts no threads, does no I/O and returns static data. It returns
 * NULL and fills in the error when the plugin cannot run in a host of this ABI minor. */
DAVIT_EXPORT const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error*);
typedef const davit_plugin* (*davit_plugin_entry_fn)(uint32_t host_abi_minor, davit_error*);
#define DAVIT_PLUGIN_ENTRY "davit_plugin_entry_v1"

/* The ELF note: section ".note.davit", owner "davit", type 1. Its text is lines of key=value. The
 * CMake function davit_add_plugin() makes it.
 *
 *   abi      "1.0": the major, and the lowest minor that the plugin works with; not above the
 *            entry's abi_minor
 *   name, version   the same as in the entry
 *   roles    "storage/1,storage_copy/1": the tables that `query` answers in every instance. A word
 *            stands for the id with "davit." before it. A word with a dot is the id of a table that
 *            only plugins know
 *   needs    "rpc/1": what the plugin cannot do without and not every host has
 *
 * A note has all five. There may be nothing behind the "=" of `roles` and `needs`. A host refuses a
 * note without the line `needs`: it is of the time before ABI 1.0.
 *
 * A host refuses a plugin with a word of `needs` that it does not know, and one that plays a role
 * in no major that the host knows. It ignores keys and names of roles that it does not know. It
 * refuses an instance whose `query` answers other roles than the note names. */
#define DAVIT_NOTE_SECTION ".note.davit"
#define DAVIT_NOTE_OWNER "davit"
#define DAVIT_NOTE_TYPE 1
#define DAVIT_NEEDS_RPC "rpc/1"     /* the host offers davit.rpc/1 */
#define DAVIT_NEEDS_CODEC "codec/1" /* the host offers davit.codec/1 */

#ifdef __cplusplus
}
#endif
#endif
