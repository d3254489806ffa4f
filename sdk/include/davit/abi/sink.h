/* Roles change sink (desired state on its way down: watcher calls applier) and status sink
 * (observed state on its way up: applier and watcher call reporter). */
#ifndef DAVIT_ABI_SINK_H
#define DAVIT_ABI_SINK_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DAVIT_CHANGE_APPLY 1
#define DAVIT_CHANGE_DELETE 2
#define DAVIT_CHANGE_HOLD 3 /* named but not sent: do not touch this object */
typedef struct davit_change {
  uint32_t struct_size;
  int32_t type;
  davit_key key; /* the id of a delete may be empty (ctrl.v1 names the object only) */
  davit_str ns, name;
  uint64_t version;
  davit_buf* payload; /* the kind's apply message; of a hold: the reason as text, or NULL; of a
                         delete: NULL. Retain to keep */
} davit_change;

/* What became of an offered change. */
#define DAVIT_OUTCOME_DONE 1   /* applied, or replaced by a newer change of the same key */
#define DAVIT_OUTCOME_PARKED 2 /* can never succeed as it is; does not hold the cursor */
#define DAVIT_OUTCOME_HELD 3
#define DAVIT_OUTCOME_ABANDONED 4 /* the stream was closed first: counts as never offered */

/* The offering end of one stream. Called on any thread. Every change that was accepted is settled
 * exactly once; wake comes once after each WAIT. Neither comes after closed(). */
typedef struct davit_change_source {
  uint32_t struct_size;
  uint32_t reserved;
  void (*wake)(void* self);
  void (*settled)(void* self, uint64_t version, int32_t outcome);
  void (*closed)(void* self); /* answers close, once, last */
} davit_change_source;

/* What a stream begins with; again at each reconnect, for what was accepted before stays accepted.
 */
#define DAVIT_BEGIN_SNAPSHOT 1u /* from cursor 0: what it does not name may be pruned at its end \
                                 */
typedef struct davit_begin {
  uint32_t struct_size;
  uint32_t flags;
  davit_cursor at;
  /* Of a snapshot: the store's history, see davit_storage. What was made of a record that is not of
   * it is orphaned, not pruned. Empty: the peer has none to tell. */
  const davit_cursor* history;
  size_t history_count;
} davit_begin;

#define DAVIT_BOOKMARK_SNAPSHOT_END 1u
#define DAVIT_BOOKMARK_COUNTED 2u /* live_count is stated by the peer */
/* The peer has no word for a snapshot's end, and has been silent since its last change. What it did
 * not name may be shown, and never removed for that. Never with the flags above. */
#define DAVIT_BOOKMARK_QUIET 4u
typedef struct davit_bookmark {
  uint32_t struct_size;
  uint32_t flags;
  davit_cursor at;
  uint64_t live_count; /* live records the snapshot named, holds included */
} davit_bookmark;

typedef struct davit_change_stream davit_change_stream;
#define DAVIT_WAIT 1
#define DAVIT_CHANGE_SINK "davit.change_sink/1"
typedef struct davit_change_sink {
  uint32_t struct_size;
  uint32_t reserved;
  /* Opens the stream of one kind and region. One at a time for each pair. [any] */
  int32_t (*open)(davit_instance*, davit_str kind, davit_str region, const davit_change_source*,
                  void* self, davit_change_stream** out, davit_error*);
  void (*begin)(davit_instance*, davit_change_stream*, const davit_begin*);
  /* DAVIT_OK: accepted. DAVIT_WAIT: no room; nothing was taken, wake follows. */
  int32_t (*offer)(davit_instance*, davit_change_stream*, const davit_change*);
  void (*bookmark)(davit_instance*, davit_change_stream*, const davit_bookmark*);
  void (*close)(davit_instance*, davit_change_stream*);
} davit_change_sink;

#define DAVIT_STATUS_SINK "davit.status_sink/1"
typedef struct davit_status_sink {
  uint32_t struct_size;
  uint32_t reserved;
  /* Latest per key wins. Copied. Epoch and sequence are the reporter's to give. [any] */
  void (*offer)(davit_instance*, const davit_status*);
  /* Cursor of one kind: everything up to it is applied, held or parked. [any] */
  void (*advance)(davit_instance*, davit_str region, const davit_kind_progress*);
  /* An issue begins (condition set) or ends (condition empty); known by kind, id, ns and name.
   * [any] */
  void (*issue)(davit_instance*, davit_str region, const davit_issue*);
} davit_status_sink;

#ifdef __cplusplus
}
#endif
#endif
