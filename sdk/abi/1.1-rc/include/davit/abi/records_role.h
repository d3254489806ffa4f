/* Role records: validated writes and reads of desired state, for controllers: plugins that write
 * records because of what they read, in records or elsewhere. The plugin `desired` plays it, with
 * the code of the operator's API, so a controller cannot store what `davit apply` would refuse.
 * Include this header beside abi.h.
 *
 * Its name: records.h has the values that every role shares; this is the role that is named after
 * them.
 *
 * The contract. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * R1  One group. The documents of an apply are committed together or not at all. A dry run changes
 *     nothing and is answered as the apply would be.
 * R2  One result a document, in the documents' order. After a commit it names the record, its
 *     version and the incarnation. When nothing is committed, every result has an error. A
 *     document that is at fault has its own, with the field in `where` ("spec.size", "region").
 *     Each other one has the code of the first that is at fault, and "documents[N]" in `where`: N
 *     is its number in the call, from 0. An apply without documents is answered with no results.
 * R3  Validated. A document passes the checks of the operator's API before it reaches the store:
 *     its kind is known, its message is one of the kind, the kind validates and names it, and the
 *     region exists. No two documents of an apply are about one record.
 * R4  By meaning. A document that means what is stored is not committed: the outcome is
 *     "unchanged", and the version is the stored one.
 * R5  `expect` is compared in the transaction of the change. When it does not hold, nothing is
 *     committed. The document's error is ABORTED, and at.version is the version that the record
 *     has; 0 when there is none, or a deleted one.
 * R6  A request id that the same author repeats within ten minutes, with the same documents,
 *     changes nothing and is answered without an error, whatever `expect` says. A result's version
 *     is the one that the record got the first time, or the one that it has now. The same id with
 *     other documents is refused.
 * R7  Answered once. Each call of apply, get and list is answered exactly once, on any thread,
 *     perhaps before the slot returns. `stop` answers what is open before it returns. What is
 *     called later is answered UNAVAILABLE.
 * R8  The caller's limits hold. A call that is over (op's deadline has passed, or the caller has
 *     cancelled) begins nothing: it is answered DEADLINE_EXCEEDED or CANCELLED. A commit that has
 *     begun is awaited and answered as what it became.
 * R9  Reads. What an apply has committed is read by every call that begins after its answer.
 *     `list` gives each record once, at its newest version, in ascending order of versions. Deleted
 *     records are left out unless the caller asks for them. `json` is the document's spec, and is
 *     there for every record of a kind that the instance knows.
 * R10 Credit. Each event of a watch uses one credit, and none comes without credit. While there is
 *     none the instance keeps a bounded number of records; what changes meanwhile is told once, as
 *     it is then.
 * R11 A watch without a cursor names each record that exists, and then says SYNCED: a record that
 *     it has not named does not exist. Afterwards, and from the first event of a watch with a
 *     cursor, each change is told, deletes too, in ascending order of versions. A watch that begins
 *     at the `at` of an event misses nothing that came after that event.
 * R12 A cursor that is too old, or of another history, ends the watch with OUT_OF_RANGE: begin one
 *     without a cursor. So is such a cursor of `list` answered.
 * R13 A watch ends once: `ended` is its last callback. The error is NULL after a cancel. Otherwise
 *     it is the reason, such as UNAVAILABLE when the instance stops.
 * R14 The author is stored with what is written. An apply without an author is refused.
 *
 * An agent's statuses are not offered. A store finds no single status, and statuses have a counter
 * of their own: a watch would need a second cursor and rules of its own for the loss of either. */
#ifndef DAVIT_ABI_RECORDS_ROLE_H
#define DAVIT_ABI_RECORDS_ROLE_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The record is to be deleted. state, spec and annotations are empty. */
#define DAVIT_DOCUMENT_DELETE DAVIT_CRITICAL(0)
/* What one record is to be. The first member of an error's `where` is a member of it. */
typedef struct davit_document {
  uint32_t struct_size;
  uint32_t flags;
  davit_key key;   /* the id may be empty, if it is not to be deleted: the kind finds it in spec */
  davit_str state; /* a word of the kind; empty = the kind's own choice. Never "deleted" */
  davit_str spec;  /* the kind's message as JSON, as `davit apply` takes it */
  const davit_pair* annotations;
  size_t annotations_count;
  uint64_t expect; /* the version that the record must have now; 0 = there must be none, or a
                      deleted one; DAVIT_EXPECT_ANY = no condition (R5) */
} davit_document;

#define DAVIT_APPLY_DRY_RUN DAVIT_CRITICAL(0)
typedef struct davit_apply {
  uint32_t struct_size;
  uint32_t flags;
  davit_str author;     /* for audit: the name of the instance that writes */
  davit_str request_id; /* at most 253 bytes without control characters; empty = none (R6) */
  const davit_document* const* documents;
  size_t documents_count;
  uint64_t intent; /* the intent of the instance's storage that this apply carries out
                      (storage_intents.h); 0 = none. Its outcome is written with the change. When
                      nothing is committed, none is written */
} davit_apply;

/* What became of one document. Borrowed for `done`. */
typedef struct davit_applied {
  uint32_t struct_size;
  uint32_t reserved;
  const davit_error* error; /* NULL: it is as the document says, or would be after a dry run */
  davit_key key;
  davit_str outcome; /* created, changed, unchanged, deleted or absent; empty with an error */
  davit_cursor at;   /* the record's version and its incarnation. Version 0: there is none, or a dry
                        run would give it one */
} davit_applied;
typedef void (*davit_apply_done)(void* ctx, const davit_applied* const* results, size_t count);

/* Deleted records, too. Of a watch: those that were deleted before it began. */
#define DAVIT_RECORDS_DELETED DAVIT_CRITICAL(0)
/* Which records to list or to watch. */
typedef struct davit_records_read {
  uint32_t struct_size;
  uint32_t flags;
  davit_str kind, region; /* empty = any */
  davit_cursor after;     /* the records above it. Version 0: from the beginning */
  uint32_t limit;         /* of list: records in a page, at least 1. The instance may give fewer */
  uint32_t reserved;
} davit_records_read;

/* The answer to get and list. Borrowed for `done`. A page of list may have no records though there
 * are more. */
typedef struct davit_records_page {
  uint32_t struct_size;
  uint32_t flags;           /* DAVIT_PAGE_MORE: there are more */
  const davit_error* error; /* NULL: the records are there */
  const davit_record* const* records;
  size_t records_count;
  davit_cursor next; /* of list: where the next page begins */
  davit_cursor head; /* of the store, when this was read. The records' versions are of its
                        incarnation */
} davit_records_page;
typedef void (*davit_records_done)(void* ctx, const davit_records_page*);

/* A record as it is now. A deleted one has the state "deleted" and is not live. */
#define DAVIT_RECORDS_EVENT_RECORD 1
/* Every record that exists has been named. Comes once, in a watch that began without a cursor. */
#define DAVIT_RECORDS_EVENT_SYNCED 2
/* Nothing else has changed up to `at`. */
#define DAVIT_RECORDS_EVENT_BOOKMARK 3
typedef struct davit_records_event {
  uint32_t struct_size;
  int32_t type;               /* DAVIT_RECORDS_EVENT_...; ignore another */
  const davit_record* record; /* of RECORD; else NULL */
  davit_cursor at; /* where a later watch goes on. Version 0 before SYNCED: it begins anew */
} davit_records_event;

/* The callbacks of a watch. They are serialised, come on any thread and do not block. */
typedef struct davit_records_watcher {
  uint32_t struct_size;
  uint32_t reserved;
  void (*event)(void* self, const davit_records_event*);
  void (*ended)(void* self, const davit_error*); /* R13. Needs no credit */
} davit_records_watcher;
typedef struct davit_records_watch davit_records_watch;

#define DAVIT_RECORDS "davit.records/1"
/* op is never NULL, and lives until `done` has been called. All other arguments are borrowed for
 * the call. `done` and the callbacks of a watch do not block. Legal from start on. [any] */
typedef struct davit_records {
  uint32_t struct_size;
  uint32_t reserved;
  /* Applies and deletes (R1 to R6). UNIMPLEMENTED, in every result, when the apply or one of its
   * documents has an unknown critical flag. */
  void (*apply)(davit_instance*, const davit_op*, const davit_apply*, davit_apply_done, void* ctx);
  /* Gives the record with this id, or when the id is empty with this name: of every namespace when
   * `ns` is empty. A deleted record is given by its id alone. No record is no error.
   * INVALID_ARGUMENT without a kind, a region, and an id or a name. */
  void (*get)(davit_instance*, const davit_op*, const davit_query*, davit_records_done, void* ctx);
  /* Gives one page. What is deleted while a caller goes from page to page it may miss: whoever has
   * to know begins a watch. INVALID_ARGUMENT for a kind that the instance does not know and of
   * which nothing is stored. */
  void (*list)(davit_instance*, const davit_op*, const davit_records_read*, davit_records_done,
               void* ctx);
  /* Begins a watch with `credit` events granted. After an error the watcher is not called, and
   * there is no handle. The watcher is copied. `self` lives until `ended` has returned. Events may
   * come before the slot returns. */
  int32_t (*watch)(davit_instance*, const davit_records_read*, uint32_t credit,
                   const davit_records_watcher*, void* self, davit_records_watch** out,
                   davit_error*);
  void (*credit)(davit_instance*, davit_records_watch*, uint32_t more);
  /* Ends a watch and lets go of its handle. Called exactly once for each watch, also for one that
   * has ended by itself. `ended` comes soon, if it has not come. Both may be called in a callback
   * of the watch. */
  void (*cancel)(davit_instance*, davit_records_watch*);
} davit_records;

#ifdef __cplusplus
}
#endif
#endif
