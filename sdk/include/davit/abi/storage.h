/* Role storage: where desired state and statuses live. All calls block and run on the instance's
 * pool [pool], at most max_concurrency at once.
 *
 * The contract. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * S1  Versions. A change gets a version above every version that was visible before. A record is
 *     read once, at its newest version; versions ascend in a page and from page to page. A page
 *     that was cut ends at its last record, one that was not at the head.
 * S2  Nothing arrives late. Once a reader has seen version V, nothing with a version at or below V
 *     becomes visible, whoever writes. It holds for statuses, too. Numbers that are taken before
 *     the commit, as SQL sequences are, break it: take the number under one lock as the last act
 *     before the commit.
 * S3  What a call has committed is read by every call that begins after its answer.
 * S4  A group is committed as a whole or not at all, whatever becomes of the groups beside it. Its
 *     mutations get consecutive versions in their order. What was answered survives a kill of the
 *     process.
 * S5  `expect` is compared in the transaction of the change. Of two groups that expect the same
 *     version one is committed. The other changes nothing and is told what is there.
 * S6  A request id that is repeated changes nothing and is answered as the first time.
 * S7  A deleted record is read as a tombstone until it is purged. Who might miss a purged one is
 *     refused (OUT_OF_RANGE) and never left without it in silence. Statuses are purged with their
 *     record.
 * S8  A report that is repeated changes nothing. Children that are not reported again are removed.
 * S9  After a commit a hint comes soon. None is owed: who is hinted reads at intervals, too.
 * S10 An incarnation is a stretch of the store's history in which no version was lost or given
 *     twice. A store that was restored, or may have been, begins another. The chain of incarnations
 *     says where each one ended; a cursor beyond that end is refused (OUT_OF_RANGE).
 * S11 A caller that gives up, or whose deadline passes, leaves no transaction open.
 * S12 A page keeps to its byte limit and has at least one record. */
#ifndef DAVIT_ABI_STORAGE_H
#define DAVIT_ABI_STORAGE_H

#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

/* (kind, region, id). Never grows. */
typedef struct davit_key {
  davit_str kind, region, id;
} davit_key;

/* A position in the store's history. Never grows. Version 0 is before the first version. A cursor
 * is valid only while `incarnation` is in the store's chain and `version` is not above the version
 * where that incarnation ended (S10). */
typedef struct davit_cursor {
  uint64_t incarnation, version;
} davit_cursor;
typedef int32_t (*davit_visit_cursor)(void* ctx, const davit_cursor*);

#define DAVIT_RECORD_LIVE 1u

/* A record of desired state. In a mutation, version and committed_at_unix_ms are ignored. */
typedef struct davit_record {
  uint32_t struct_size;
  uint32_t flags;
  davit_key key;
  davit_str ns, name; /* in the cluster; both empty when the record is deleted and another record
                         has its name */
  davit_str state;    /* a word of the kind, or "deleted" */
  uint64_t version;
  davit_bytes payload; /* opaque; kept in tombstones */
  davit_str json;      /* the payload as JSON, for people who query the store */
  int64_t committed_at_unix_ms;
  davit_str author, request_id;
  const davit_pair* annotations;
  size_t annotations_count;
} davit_record;

#define DAVIT_EXPECT_ANY UINT64_MAX
/* One change of one record. */
typedef struct davit_mutation {
  uint32_t struct_size;
  uint32_t reserved;
  const davit_record* record;
  uint64_t expect; /* the version that the record must have now; 0 = it must not exist;
                      DAVIT_EXPECT_ANY = no condition (S5) */
} davit_mutation;

/* Mutations that commit together or not at all. No two of them have the same key. The store answers
 * a request id that is repeated within ten minutes or 100,000 versions, whichever is longer, as it
 * did the first time (S6). The request id may be empty. */
typedef struct davit_group {
  uint32_t struct_size;
  uint32_t mutations_count; /* 1 ... max_group_records */
  const davit_mutation* const* mutations;
  davit_str request_id;
} davit_group;

/* The result of one group. Mutation i has version first_version + i. error.code is
 *  - ABORTED when `expect` failed; actual_version is the version that the record has;
 *  - ALREADY_EXISTS when another live record has the name; error.where is the id of that record;
 *  - INVALID_ARGUMENT when a record would change its namespace or name. */
typedef struct davit_group_result {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t first_version;
  uint64_t actual_version;
  davit_error error; /* error.code = DAVIT_OK: committed */
} davit_group_result;

/* How far the store is. */
typedef struct davit_head {
  uint32_t struct_size;
  uint32_t reserved;
  davit_cursor head;       /* current incarnation and the newest visible version */
  uint64_t status_head;    /* the newest visible status version */
  uint64_t purged_through; /* tombstones at or below it are gone */
} davit_head;

/* Which records or statuses to read. An empty string means any. */
typedef struct davit_scope {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str kind, region;
} davit_scope;

#define DAVIT_READ_LINGERING 1u
typedef struct davit_read {
  uint32_t struct_size;
  uint32_t limit; /* records, at least 1 */
  const davit_scope* scope;
  davit_cursor cursor; /* read the records above it; version 0 needs no incarnation */
  uint64_t dead_after; /* leave out deleted records at or below this version */
  uint64_t bytes_max;  /* limit of the payloads' size; a page has at least one record (S12) */
  uint32_t flags;      /* DAVIT_READ_LINGERING: `dead_after` leaves out a deleted record only when
                          its stored status says gone of the record's version or of a later one.
                          A status of the time before the delete does not count */
  uint32_t reserved;
} davit_read;

#define DAVIT_PAGE_MORE 1u
/* Filled in by `read`, from the same snapshot as the records. */
typedef struct davit_page {
  uint32_t struct_size;
  uint32_t flags;        /* DAVIT_PAGE_MORE: a limit or the visitor cut the page */
  uint64_t next_version; /* the cursor after this page: the last record's version when the page was
                            cut, else the head (S1) */
  davit_head head;       /* the caller sets its struct_size */
} davit_page;

/* Asks for a record by its id, or by its name when the id is empty. With an empty ns the name is
 * looked up in every namespace, and every match is visited. */
typedef struct davit_query {
  uint32_t struct_size;
  uint32_t reserved;
  davit_key key;
  davit_str ns, name;
} davit_query;

/* A visitor of this role returns 0 to go on, 1 to stop. Its argument is borrowed for the visit. */
typedef int32_t (*davit_visit_record)(void* ctx, const davit_record*);

/* A part of a record's object that a status reports one by one, such as a pod. */
typedef struct davit_child {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str name, address, status; /* status: pending, running, failed or inactive */
  int64_t cpu_millicores, memory_mib;
} davit_child;

#define DAVIT_STATUS_GONE 1u /* nothing is left in the cluster; the store removes the children */
/* The observed state of one record, in the same form for every kind. */
typedef struct davit_status {
  uint32_t struct_size;
  uint32_t flags;
  davit_key key;
  uint64_t observed_version; /* the record's version that this status is about; 0 = not known */
  davit_str health;          /* unknown, progressing, healthy, unhealthy or paused */
  int64_t desired, updated, ready, stale; /* counts; stale = of an older template */
  davit_str message;
  davit_str parked; /* why the record is parked; empty = it is not parked */
  const davit_child* const* children;
  size_t children_count;
  davit_str detail;         /* JSON that the kind defines */
  uint64_t epoch, sequence; /* given by the reporter; `report` ignores a pair that is not newer */
  uint64_t status_version;  /* given by the store; ignored in `report` */
  int64_t reported_at_unix_ms;
  /* The record's namespace and name as the agent knows them, for peers that know no ids. May be
   * empty. */
  davit_str ns, name;
  /* The incarnation in which the agent read observed_version; 0 = not known. `report` needs it; the
   * store does not keep it. */
  uint64_t observed_incarnation;
} davit_status;
typedef int32_t (*davit_visit_status)(void* ctx, const davit_status*);

/* The conditions of an issue begin here. The record can never succeed as it is. */
#define DAVIT_ISSUE_PARKED "parked"
/* The server names the record and does not send it. The agent does not touch its object. */
#define DAVIT_ISSUE_HELD "held"
/* The object's record is gone, without a delete that proves it. */
#define DAVIT_ISSUE_ORPHANED "orphaned"
/* Without kind and record: the agent could not send statuses. With a record: its delete waits until
 * the agent sees what exists in the cluster. */
#define DAVIT_ISSUE_DELAYED "delayed"
/* The agent does not see a resource of the kind. The name is the resource's, the id is empty. The
 * reason begins "since TIME: " (RFC 3339, UTC). Statuses of the kind that were reported before may
 * no longer be true. */
#define DAVIT_ISSUE_BLIND "blind"
/* The agent's account lacks rights that the kind needs. The name is "access to" and the resource's
 * name, the id is empty. */
#define DAVIT_ISSUE_DENIED "denied"
/* Something that a person may have to look at. An agent reports its issues in its progress. */
typedef struct davit_issue {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str kind, id, ns, name; /* id empty: the issue is not about a record */
  uint64_t version;
  uint64_t incarnation; /* in which the agent read the version; 0 = not known */
  davit_str condition, reason;
} davit_issue;
/* How far an agent is with one kind. */
typedef struct davit_kind_progress {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str kind;
  davit_cursor applied; /* every record up to it is applied, held or parked */
} davit_kind_progress;
/* How far one agent is. It replaces the earlier progress of the same (region, agent). */
typedef struct davit_progress {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str region, agent, software; /* software: "davit 0.1.0" */
  uint64_t epoch;
  const davit_kind_progress* const* kinds;
  size_t kinds_count;
  const davit_issue* const* issues;
  size_t issues_count;
  int64_t seen_at_unix_ms;
} davit_progress;
typedef int32_t (*davit_visit_progress)(void* ctx, const davit_progress*);

#define DAVIT_MAINTAIN_PURGE 1u /* remove tombstones at or below purge_through */
/* Remove the progress of (region, agent), unless the agent was seen after agent_seen_at_unix_ms. */
#define DAVIT_MAINTAIN_FORGET_AGENT 2u
typedef struct davit_maintain {
  uint32_t struct_size;
  uint32_t flags; /* the steps that run; 0: the backend does its routine housekeeping */
  uint64_t purge_through;
  davit_str region, agent;       /* with FORGET_AGENT */
  int64_t agent_seen_at_unix_ms; /* with FORGET_AGENT */
} davit_maintain;

#define DAVIT_STORAGE "davit.storage/1"
typedef struct davit_storage {
  uint32_t struct_size;
  uint32_t max_group_records;
  int32_t (*head)(davit_instance*, const davit_op*, davit_head* out, davit_error*);
  /* Visits the records above the cursor in strictly ascending version order. OUT_OF_RANGE when the
   * cursor is of another history (S10), when it is above the head, or when the cursor is not 0 and
   * max(cursor, dead_after) is below the purge mark (S7). */
  int32_t (*read)(davit_instance*, const davit_op*, const davit_read*, davit_visit_record,
                  void* ctx, davit_page* out, davit_error*);
  /* Visits the records that match. It succeeds without a visit when none does. `out` is of the same
   * snapshot as the records. */
  int32_t (*get)(davit_instance*, const davit_op*, const davit_query*, davit_visit_record,
                 void* ctx, davit_head* out, davit_error*);
  /* No two groups of one call share a key or a name. Each group has its own result. The call fails
   * as a whole (UNAVAILABLE) only when the store knows the result of none of the groups. The caller
   * then repeats the groups with the same request ids. */
  int32_t (*commit)(davit_instance*, const davit_op*, const davit_group* const* groups,
                    size_t count, davit_group_result* const* results, davit_error*);
  /* Inserts or updates statuses and their children, and removes children that are missing; all or
   * nothing. It ignores
   *  - a status whose (epoch, sequence) is not newer than the stored one;
   *  - a status of an unknown record;
   *  - a status of a history that the store has lost, unless it says gone. Its observed_version is
   *    above the record's version, or S10 refuses (observed_incarnation, observed_version). The
   *    store would otherwise take it for a status of a version that it has now or gives later. */
  int32_t (*report)(davit_instance*, const davit_op*, const davit_status* const*, size_t count,
                    davit_error*);
  /* Visits the statuses above status version `after`, in ascending order (S2 holds for them, too).
   * `next_after` is to statuses what next_version is in davit_page. */
  int32_t (*statuses)(davit_instance*, const davit_op*, const davit_scope*, uint64_t after,
                      uint32_t limit, davit_visit_status, void* ctx, uint64_t* next_after,
                      davit_error*);
  /* Stores one agent's progress. */
  int32_t (*progress)(davit_instance*, const davit_op*, const davit_progress*, davit_error*);
  /* Visits the progress of every agent. */
  int32_t (*agents)(davit_instance*, const davit_op*, davit_visit_progress, void* ctx,
                    davit_error*);
  int32_t (*maintain)(davit_instance*, const davit_op*, const davit_maintain*, davit_error*);
  /* Optional; NULL when the store gives no hints. The store calls hint(ctx) soon after records may
   * have become readable; statuses need no hint. Several commits may share a hint, and a hint may
   * be lost or spurious. It comes on any thread and must be cheap. A call with hint NULL ends the
   * watch, and no hint comes after it. */
  void (*watch)(davit_instance*, void (*hint)(void* ctx), void* ctx);
  /* Visits the chain that S10 judges by, the oldest link first: each incarnation with the version
   * where it ended, and the current one with the head's version. Agents judge the objects in their
   * clusters by it: an agent leaves an object alone when the store may have lost its record. */
  int32_t (*history)(davit_instance*, const davit_op*, davit_visit_cursor, void* ctx, davit_error*);
} davit_storage;

/* The host's commit queue in front of a storage instance. Groups that wait are committed together.
 * `storage` is the instance's name. The slots copy their arguments before they return, and call
 * `done` once, on a pool thread. [any] */
#define DAVIT_COMMIT "davit.commit/1"
typedef void (*davit_commit_done)(void* ctx, const davit_group_result*);
typedef void (*davit_report_done)(void* ctx, int32_t code, const davit_error*);
typedef struct davit_commit {
  uint32_t struct_size;
  uint32_t reserved;
  void (*commit)(const davit_host*, davit_str storage, const davit_group*, davit_commit_done,
                 void* ctx);
  void (*report)(const davit_host*, davit_str storage, const davit_status* const*, size_t count,
                 davit_report_done, void* ctx);
} davit_commit;

#ifdef __cplusplus
}
#endif
#endif
