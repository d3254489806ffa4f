/* Optional, beside the role storage: backup, verification and restore of the store as a whole.
 * `davit storage` uses this table, which is looked up by its id. A storage whose database has tools
 * of its own does not have it. Calls block [pool]. Paths are absolute and on the process's
 * machine. */
#ifndef DAVIT_ABI_STORAGE_COPY_H
#define DAVIT_ABI_STORAGE_COPY_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a store, or a copy of it, contains. */
typedef struct davit_copied {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t bytes;
  davit_cursor head; /* the newest version, and its incarnation */
} davit_copied;

/* How far a call is, in bytes. total 0 = not known. Return 0 to go on, 1 to end the call with
 * CANCELLED. */
typedef int32_t (*davit_copy_progress)(void* ctx, uint64_t done, uint64_t total);

#define DAVIT_STORAGE_COPY "davit.storage_copy/1"
typedef struct davit_storage_copy {
  uint32_t struct_size;
  uint32_t reserved;
  /* Copies one state of the store into one new file that only its owner may read. Writes go on
   * meanwhile and are not in the copy. The file gets the name `path` when it is complete, on the
   * disk and verified. An error leaves no file. ALREADY_EXISTS when `path` exists. Legal after
   * start. */
  int32_t (*backup)(davit_instance*, const davit_op*, davit_str path, davit_copy_progress,
                    void* ctx, davit_copied* out, davit_error*);
  /* Reads and verifies all of a copy, or of the store itself (`path` empty; only after start).
   * DATA_LOSS says what is wrong. */
  int32_t (*verify)(davit_instance*, const davit_op*, davit_str path, davit_copy_progress,
                    void* ctx, davit_copied* out, davit_error*);
  /* Makes the copy the store, in a new incarnation, so that cursors of lost versions are refused.
   * The old store, if there is one, is kept, and `aside` gets its new path. Legal before start.
   * UNAVAILABLE when a process has the store open. When the call is killed, one of the two stores
   * is complete, or the next start is refused until the call is repeated. */
  int32_t (*restore)(davit_instance*, const davit_op*, davit_str path, davit_copied* out,
                     const davit_sink* aside, davit_error*);
} davit_storage_copy;

#ifdef __cplusplus
}
#endif
#endif
