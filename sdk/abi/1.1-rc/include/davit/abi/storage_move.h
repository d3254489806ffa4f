/* Optional, beside the role storage: a store that can be copied into another one, or take such a
 * copy. `davit storage copy` uses this table, which is looked up by its id. What is copied is read
 * and written by the role storage, and by this table where the role cannot: a commit gives versions
 * of its own, and a copy keeps those of the source. A storage without this table is a source all
 * the same, when its `start` leaves beside it whoever has the store open. Calls block [pool].
 *
 * The copy. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * M1  Whoever observes changes nothing of the store, and begins no incarnation of it.
 * M2  A store is loading from `begin` until `finish` has answered. A start without `begin` is
 *     refused meanwhile (FAILED_PRECONDITION), also after a kill at any moment, and by releases
 *     that do not know this table.
 * M3  What `load` has answered OK to is durable. Each call is kept whole or not at all, with its
 *     note. A repeated call changes nothing.
 * M4  What was loaded is read as it was given, with its version. A later state of a record or a
 *     status takes the place of an earlier one. A deleted record without a name stays so: another
 *     record has its name (S13). Which name it was is not copied.
 * M5  `finish` makes the store the continuation of the source. Its history is the given one, with a
 *     new incarnation at its end. So cursors, expected versions and statuses that were read in the
 *     source are judged as the source would have judged them, and versions go on above its heads.
 *     Cursors of statuses are accepted in the last incarnation of the source alone, because a
 *     history does not tell where the earlier ones ended for statuses.
 * M6  Request ids are not copied: a request is repeated at most once over a move. */
#ifndef DAVIT_ABI_STORAGE_MOVE_H
#define DAVIT_ABI_STORAGE_MOVE_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of observe: no other process has the store open from start to stop. */
#define DAVIT_OBSERVE_ALONE DAVIT_CRITICAL(0)
/* Of begin: answer as if, and change nothing. */
#define DAVIT_LOAD_LOOK DAVIT_CRITICAL(0)
/* Of begin: forget what an interrupted copy has loaded. */
#define DAVIT_LOAD_ANEW DAVIT_CRITICAL(1)

/* What one call of `load` brings. A status may come before its record. */
typedef struct davit_load {
  uint32_t struct_size;
  uint32_t reserved;
  const davit_record* const* records;  /* in ascending version order, with committed_at_unix_ms */
  size_t records_count;                /* within the limits of a group */
  const davit_status* const* statuses; /* in ascending order of status_version */
  size_t statuses_count;               /* within the limits of a report */
  davit_str note; /* kept with them; `begin` gives the latest one. At most 1,024 bytes */
} davit_load;

/* What the source is when everything has been loaded. */
typedef struct davit_load_end {
  uint32_t struct_size;
  uint32_t reserved;
  const davit_cursor* history; /* as davit_storage.history visits it; the last link has the head */
  size_t history_count;        /* at least 1 */
  uint64_t status_head;
} davit_load_end;

#define DAVIT_STORAGE_MOVE "davit.storage_move/1"
typedef struct davit_storage_move {
  uint32_t struct_size;
  uint32_t reserved;
  /* The next start opens the store for reading only, beside whoever has it open (M1). The slots
   * that write are then refused (FAILED_PRECONDITION). With OBSERVE_ALONE that start is refused
   * with UNAVAILABLE when another process has the store open. A store that several processes share
   * may ignore the flag. FAILED_PRECONDITION: there is no store. Legal before start. */
  int32_t (*observe)(davit_instance*, const davit_op*, uint32_t flags, davit_error*);
  /* Makes the store, if there is none, and marks it as loading (M2). The next start of this
   * instance is then accepted, and the slots of the role storage read what was loaded, and take
   * progress and maintain. Writes the note of the last `load` to `note`; nothing: the copy begins.
   * ALREADY_EXISTS: the store has content that is no interrupted copy. UNAVAILABLE: a process has
   * it open. Legal before start. */
  int32_t (*begin)(davit_instance*, const davit_op*, uint32_t flags, const davit_sink* note,
                   davit_error*);
  /* After begin and start. FAILED_PRECONDITION: the store is not loading. */
  int32_t (*load)(davit_instance*, const davit_op*, const davit_load*, davit_error*);
  /* Removes statuses without a record, and ends the loading (M5). After begin and start. */
  int32_t (*finish)(davit_instance*, const davit_op*, const davit_load_end*, davit_error*);
} davit_storage_move;

#ifdef __cplusplus
}
#endif
#endif
