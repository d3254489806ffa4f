/* The roles change sink and status sink. Desired state travels down through the change sink: the
 * watcher calls the applier. Observed state travels up through the status sink: the applier and the
 * watcher call the reporter. */
#ifndef DAVIT_ABI_SINK_H
#define DAVIT_ABI_SINK_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DAVIT_CHANGE_APPLY 1
#define DAVIT_CHANGE_DELETE 2
#define DAVIT_CHANGE_HOLD 3 /* the record is named but not sent: do not touch its object */
typedef struct davit_change {
  uint32_t struct_size;
  int32_t type;
  davit_key key; /* the id of a delete may be empty (ctrl.v1 names the object only) */
  davit_str ns, name;
  uint64_t version;
  davit_buf* payload; /* the kind's apply message; of a hold the reason as text, or NULL; of a
                         delete NULL. Retain it to keep it */
  /* The record's state word ("draining") and annotations, in any order. Both are empty when the
   * peer does not send them. */
  davit_str state;
  const davit_pair* annotations;
  size_t annotations_count;
} davit_change;

/* How the sink settles an accepted change. */
#define DAVIT_OUTCOME_DONE 1   /* applied, or replaced by a newer change of the same key */
#define DAVIT_OUTCOME_PARKED 2 /* it can never succeed as it is; the cursor moves past it */
#define DAVIT_OUTCOME_HELD 3
#define DAVIT_OUTCOME_ABANDONED 4 /* the stream was closed first: as if it was never offered */

/* The callbacks of the side that offers changes, one set per stream. They come on any thread. Every
 * accepted change is settled exactly once, and wake comes once after each DAVIT_WAIT. Neither comes
 * after `closed`. */
typedef struct davit_change_source {
  uint32_t struct_size;
  uint32_t reserved;
  void (*wake)(void* self);
  void (*settled)(void* self, uint64_t version, int32_t outcome);
  void (*closed)(void* self); /* the answer to close; once, and the last callback */
} davit_change_source;

/* The stream is a snapshot (cursor 0). At its end the sink may prune what it did not name. */
#define DAVIT_BEGIN_SNAPSHOT DAVIT_CRITICAL(0)
/* How a stream begins. The source calls `begin` again at each reconnect. Changes that were accepted
 * before stay accepted. */
typedef struct davit_begin {
  uint32_t struct_size;
  uint32_t flags;
  davit_cursor at; /* the stream continues above it */
  /* Of a snapshot: the store's history (davit_storage.history). An object that was made from a
   * record outside this history is orphaned, not pruned. Empty when the peer does not send it. */
  const davit_cursor* history;
  size_t history_count;
} davit_begin;

#define DAVIT_BOOKMARK_SNAPSHOT_END DAVIT_CRITICAL(0)
#define DAVIT_BOOKMARK_COUNTED DAVIT_CRITICAL(1) /* the peer has stated live_count */
/* The peer cannot say where a snapshot ends, and has been silent since its last change. The sink
 * may show objects that the peer did not name, and does not prune them. Never with the flags
 * above. */
#define DAVIT_BOOKMARK_QUIET 1u
typedef struct davit_bookmark {
  uint32_t struct_size;
  uint32_t flags;
  davit_cursor at;
  uint64_t live_count; /* the number of live records that the snapshot named, holds included */
} davit_bookmark;

typedef struct davit_change_stream davit_change_stream;
#define DAVIT_WAIT 1
#define DAVIT_CHANGE_SINK "davit.change_sink/1"
typedef struct davit_change_sink {
  uint32_t struct_size;
  uint32_t reserved;
  /* Opens the stream of one kind and region. At most one is open for each pair. [any] */
  int32_t (*open)(davit_instance*, davit_str kind, davit_str region, const davit_change_source*,
                  void* self, davit_change_stream** out, davit_error*);
  /* UNIMPLEMENTED when it has an unknown critical flag. The source then closes the stream, or
   * begins it in another way, before it offers a change. */
  int32_t (*begin)(davit_instance*, davit_change_stream*, const davit_begin*, davit_error*);
  /* DAVIT_OK: the change is accepted. DAVIT_WAIT: there is no room; the change is not taken, and
   * wake follows. */
  int32_t (*offer)(davit_instance*, davit_change_stream*, const davit_change*);
  /* UNIMPLEMENTED as from begin. The bookmark then counts as never sent. */
  int32_t (*bookmark)(davit_instance*, davit_change_stream*, const davit_bookmark*, davit_error*);
  void (*close)(davit_instance*, davit_change_stream*);
} davit_change_sink;

#define DAVIT_STATUS_SINK "davit.status_sink/1"
typedef struct davit_status_sink {
  uint32_t struct_size;
  uint32_t reserved;
  /* Copies the status. A later status of the same key replaces it. The reporter sets epoch and
   * sequence. UNIMPLEMENTED when it has an unknown critical flag. [any] */
  int32_t (*offer)(davit_instance*, const davit_status*, davit_error*);
  /* Moves the cursor of one kind: every record up to it is applied, held or parked. [any] */
  void (*advance)(davit_instance*, davit_str region, const davit_kind_progress*);
  /* Begins an issue (condition set) or ends it (condition empty). Kind, id, ns and name identify
   * the issue. [any] */
  void (*issue)(davit_instance*, davit_str region, const davit_issue*);
} davit_status_sink;

#ifdef __cplusplus
}
#endif
#endif
