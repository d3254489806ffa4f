/* Optional, beside the role storage: what an operator does with the store as a whole. Asked for by
 * its id from the instance that plays the role; a storage whose database has tools of its own
 * leaves it out. Calls block [pool]; paths are absolute and on the process's machine. */
#ifndef DAVIT_ABI_STORAGE_COPY_H
#define DAVIT_ABI_STORAGE_COPY_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a store or a copy of it has. */
typedef struct davit_copied {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t bytes;
  davit_cursor head; /* the newest version, and the incarnation that it is of */
} davit_copied;

/* How far a call is, in bytes; total 0: not known. Return 0 to go on, 1 to end it (CANCELLED). */
typedef int32_t (*davit_copy_progress)(void* ctx, uint64_t done, uint64_t total);

#define DAVIT_STORAGE_COPY "davit.storage_copy/1"
typedef struct davit_storage_copy {
  uint32_t struct_size;
  uint32_t reserved;
  /* One state of the store, however long it takes and whatever is written meanwhile, as one file
   * that only its owner may read. It has the name when it is whole, on the disk and verified; after
   * an error nothing is left. ALREADY_EXISTS: something has that name. After start. */
  int32_t (*backup)(davit_instance*, const davit_op*, davit_str path, davit_copy_progress,
                    void* ctx, davit_copied* out, davit_error*);
  /* Reads all of it: the store's own (path empty, after start) or a copy's. DATA_LOSS: what is
   * wrong. */
  int32_t (*verify)(davit_instance*, const davit_op*, davit_str path, davit_copy_progress,
                    void* ctx, davit_copied* out, davit_error*);
  /* The copy becomes the store, in a new incarnation, so that cursors of what is lost are told
   * apart. The store that was there is kept; `aside` gets its new name, when there was one. Before
   * start; UNAVAILABLE: a process has the store open. Whenever it is killed, either store is whole,
   * or the next start is refused until it is repeated. */
  int32_t (*restore)(davit_instance*, const davit_op*, davit_str path, davit_copied* out,
                     const davit_sink* aside, davit_error*);
} davit_storage_copy;

#ifdef __cplusplus
}
#endif
#endif
