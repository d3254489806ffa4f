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
 *     mutations get consecutive versions in their order. A store makes durable what it answers OK
 *     to, before it answers: it survives a kill of the process and a loss of power.
 * S5  `expect` is compared in the transaction of the change. Of two groups that expect the same
 *     version one is committed. The other changes nothing and is told what is there. A version that
 *     was lost and given again is another version: one that was read in an incarnation is expected
 *     in vain unless the history has it (S10). The fence of a commit does not see to that, for it
 *     is about the versions that the commit gives.
 * S6  A request id that is repeated changes nothing and is answered as the first time. Only groups
 *     that were committed count: one that failed is tried anew.
 * S7  A deleted record is read as a tombstone until it is purged, with the payload and the JSON of
 *     the mutation that deleted it. A purged one leaves its name, too: nobody finds it by it. Who
 *     might miss a purged one is refused (OUT_OF_RANGE) and never left without it in silence.
 *     Statuses are purged with their record.
 * S8  Each status of a report is stored whole or not at all. A report that failed may have stored
 *     some. One that is repeated changes nothing. Children that are not reported again are removed.
 * S9  After a commit, a report or a progress a hint comes soon to every watch, until the watch has
 *     ended. None is owed: who is hinted reads at intervals, too.
 * S10 An incarnation is a stretch of the store's history in which no version was lost or given
 *     twice, neither a record's nor a status's. One begins whenever continuity is not proven: with
 *     an open, or with a reconnect to another timeline, another cluster id or a restored database.
 *     Otherwise an incarnation may go on: a store that can prove that it has lost nothing need not
 *     begin one with an open. An incarnation is any number but 0, drawn at random from all 64 bits,
 *     so that two copies of one store never begin the same one.
 *      - The chain of incarnations says where each one ended, for both counters. A cursor of
 *        records or of statuses is refused beyond that end (OUT_OF_RANGE).
 *      - All processes that share the store see one chain. Each call reads it in its own snapshot.
 *      - A commit is fenced: it gives versions of the incarnation that `head` would answer in the
 *        commit's own transaction, and says which one that is. A process that has not noticed that
 *        the store was restored gives no version of the incarnation that has ended.
 *      - A store may trim the chain from its oldest end. What was trimmed is of an unknown history:
 *        its cursors are refused, and a status that was read there is ignored unless it says gone.
 *        Agents leave objects alone that were made of it and whose records are not named, and show
 *        them as orphaned.
 * S11 A caller that gives up, or whose deadline passes, leaves no transaction open. The call then
 *     ends soon: with CANCELLED or DEADLINE_EXCEEDED, and nothing has changed except as S8 allows;
 *     or with what it has done. A deadline that has passed before the call changes nothing.
 * S12 A page keeps to its byte limit and has at least one record or status.
 * S13 What is read of a record changes only with a new version, so whoever follows the versions
 *     misses nothing. A live record may take the name of a deleted one over. The deleted one then
 *     gets a new version, below those of the group, and reads without namespace and name. Its name
 *     is still its own: it may come back to life under it, and under no other, when it is free.
 *
 * Domains. The host refuses what is outside of them before it reaches a storage; every storage
 * keeps what is inside. Texts are UTF-8 without U+0000 and are compared byte by byte. Numbers that
 * are stored are below 2^63. Names have the lengths of records.h. Payloads, JSON and the other
 * texts have no limit of their own. A storage may limit how much one record, group or report holds
 * (davit_storage_limits).
 *
 * Life. Slots are called from the return of start to the call of stop, except where said. The host
 * refuses later calls, and calls stop when no call runs any more.
 *
 * Records and statuses have a counter each. Both keep S1, S2 and S10, and may be two columns of one
 * row, which a writer locks as the last act before its commit. Whoever counts reports and changes
 * by one counter moves the head with every event of every pod: agents that have everything would
 * look as if they were behind, and every idle stream would be told of each new head. */
#ifndef DAVIT_ABI_STORAGE_H
#define DAVIT_ABI_STORAGE_H

#include "records.h"
#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DAVIT_EXPECT_ANY UINT64_MAX
/* One change of one record. */
typedef struct davit_mutation {
  uint32_t struct_size;
  uint32_t reserved;
  const davit_record* record;
  uint64_t expect;             /* the version that the record must have now; 0 = it must not exist;
                      DAVIT_EXPECT_ANY = no condition (S5) */
  uint64_t expect_incarnation; /* in which `expect` was read (S5); 0 = not known: then the number
                                  alone is compared */
} davit_mutation;

/* Mutations that commit together or not at all. No two of them have the same key. The store answers
 * a request id that is repeated within ten minutes or 100,000 versions, whichever is longer, as it
 * did the first time (S6). The request id may be empty. */
typedef struct davit_group {
  uint32_t struct_size;
  uint32_t mutations_count; /* 1 ... group_records of davit_storage_limits */
  const davit_mutation* const* mutations;
  davit_str request_id;
  uint64_t intent; /* the intent that the group carries out (storage_intents.h); 0 = none. The host
                      refuses another number for a storage that has no table of intents */
} davit_group;

/* The result of one group. Mutation i has version first_version + i. A cursor of it takes the
 * incarnation from here: an earlier or later `head` may be in another one. error.code is
 *  - ABORTED when `expect` failed; actual_version is the version that the record has. It may be the
 *    number that was expected, of another incarnation than expected;
 *  - ALREADY_EXISTS when another live record has the name; error.where is the id of that record;
 *  - INVALID_ARGUMENT when a record would change its namespace or name. */
typedef struct davit_group_result {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t incarnation; /* of the two versions: what `head` would answer in the transaction of the
                           group (S10). Set when error.code is OK or ABORTED */
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

#define DAVIT_READ_LINGERING DAVIT_CRITICAL(0)
/* Of davit_read and davit_get: the caller looks at no payload, JSON or annotations. A store may
 * leave them out, and need not read them. */
#define DAVIT_READ_NO_PAYLOAD 1u
typedef struct davit_read {
  uint32_t struct_size;
  uint32_t limit; /* records, at least 1 */
  const davit_scope* scope;
  davit_cursor cursor; /* read the records above it; version 0 needs no incarnation */
  uint64_t dead_after; /* leave out deleted records at or below this version */
  uint64_t bytes_max;  /* limit of the payloads' size; a page has at least one record (S12) */
  uint32_t flags;      /* DAVIT_READ_LINGERING: `dead_after` leaves out a deleted record only when
                          its stored status says gone of the record's version or of a later one.
                          A record without a status is not left out. A status of the time before
                          the delete does not count. DAVIT_READ_NO_PAYLOAD */
  uint32_t reserved;
} davit_read;

#define DAVIT_PAGE_MORE DAVIT_CRITICAL(0)
/* Filled in by `read`, from the same snapshot as the records. */
typedef struct davit_page {
  uint32_t struct_size;
  uint32_t flags;        /* DAVIT_PAGE_MORE: `limit`, `bytes_max` or the visitor cut the page; a
                            visitor that stops at the last record has cut it, too */
  uint64_t next_version; /* the cursor after this page: the last record's version when the page was
                            cut, else the head (S1) */
  davit_head* head;      /* the caller's; the callee fills it in. NULL: the caller wants none */
} davit_page;

/* Asks for a record by its id, or by its name when the id is empty. Deleted records are found by
 * either, unless they read without a name (S13). With an empty ns the name is looked up in every
 * namespace, and every match is visited. */
typedef struct davit_query {
  uint32_t struct_size;
  uint32_t reserved;
  davit_key key;
  davit_str ns, name;
} davit_query;

/* Which records to look up. What they hold may be in memory at once, so a caller that wants
 * payloads asks for about a hundred at a time. */
typedef struct davit_get {
  uint32_t struct_size;
  uint32_t flags; /* DAVIT_READ_NO_PAYLOAD */
  const davit_query* const* queries;
  size_t queries_count; /* may be 0: the caller wants the head */
} davit_get;

/* Which statuses to read. */
typedef struct davit_status_read {
  uint32_t struct_size;
  uint32_t limit; /* statuses, at least 1 */
  const davit_scope* scope;
  davit_cursor cursor; /* of statuses: read those above it; version 0 needs no incarnation */
  uint64_t bytes_max;  /* limit of the size of message, parked, detail, and the children's texts; a
                          page has at least one status (S12) */
  uint32_t flags;      /* 0 */
  uint32_t reserved;
} davit_status_read;

/* Filled in by `statuses`, from the same snapshot as the statuses. */
typedef struct davit_status_page {
  uint32_t struct_size;
  uint32_t flags;    /* DAVIT_PAGE_MORE: as in davit_page */
  davit_cursor next; /* the cursor of statuses after this page: in the current incarnation, the last
                        status's version when the page was cut, else the status head */
  davit_head* head;  /* set by the caller; NULL: it is not wanted */
} davit_status_page;

/* Which agents to read. Their order is that of the bytes of the region, then of the agent's name;
 * an SQL database needs a binary collation for it. */
typedef struct davit_agent_read {
  uint32_t struct_size;
  uint32_t limit;                      /* agents, at least 1 */
  davit_str region;                    /* empty: any */
  davit_str after_region, after_agent; /* read those above this one; both empty: from the first */
} davit_agent_read;

/* Filled in by `agents`. The next page begins after the last agent that was visited. */
typedef struct davit_agent_page {
  uint32_t struct_size;
  uint32_t flags; /* DAVIT_PAGE_MORE: the limit or the visitor cut the page */
} davit_agent_page;

/* Remove tombstones at or below purge_through. */
#define DAVIT_MAINTAIN_PURGE DAVIT_CRITICAL(0)
/* Remove the progress of (region, agent), unless the agent was seen after agent_seen_at_unix_ms. */
#define DAVIT_MAINTAIN_FORGET_AGENT DAVIT_CRITICAL(1)
typedef struct davit_maintain {
  uint32_t struct_size;
  uint32_t flags; /* the steps that run; 0: the backend does its routine housekeeping */
  uint64_t purge_through;
  davit_str region, agent;       /* with FORGET_AGENT */
  int64_t agent_seen_at_unix_ms; /* with FORGET_AGENT */
} davit_maintain;

/* What may have become readable. */
#define DAVIT_HINT_RECORDS 1u
#define DAVIT_HINT_STATUSES 2u
#define DAVIT_HINT_AGENTS 4u
#define DAVIT_HINT_INTENTS 8u /* storage_intents.h */
#define DAVIT_HINT_LEADER 16u /* storage_election.h */
/* `what` is at least one of DAVIT_HINT_... A hint comes on any thread, perhaps inside another call
 * of the role. It is cheap, and calls nothing of this role. */
typedef void (*davit_storage_hint)(void* ctx, uint32_t what);
/* One watch of a storage instance. */
typedef struct davit_storage_watch davit_storage_watch;

/* What one call may hold. The host's commit queue keeps to it: it refuses a larger group, divides
 * reports, and does not put more groups into one commit. UINT32_MAX and UINT64_MAX: no limit. Bytes
 * count payload, JSON and every text. */
typedef struct davit_storage_limits {
  uint32_t struct_size;
  uint32_t group_records; /* in one group, and in all groups of one commit; at least 1 */
  uint64_t record_bytes;  /* of one record */
  uint64_t group_bytes; /* of one group, and of all groups of one commit; not below record_bytes */
  uint32_t report_statuses; /* in one report; at least 1 */
  uint32_t reserved;
  uint64_t report_bytes; /* of one report; at least 512 KiB, so that every status fits that the
                            server takes from an agent */
} davit_storage_limits;

#define DAVIT_STORAGE "davit.storage/1"
typedef struct davit_storage {
  uint32_t struct_size;
  uint32_t reserved;
  /* They do not change from start to stop. Before start it may fail. [any] */
  int32_t (*limits)(davit_instance*, davit_storage_limits* out, davit_error*);
  int32_t (*head)(davit_instance*, const davit_op*, davit_head* out, davit_error*);
  /* Visits the records above the cursor in strictly ascending version order. OUT_OF_RANGE when the
   * cursor is of another history (S10), when it is above the head, or when the cursor is not 0 and
   * max(cursor, dead_after) is below the purge mark (S7). */
  int32_t (*read)(davit_instance*, const davit_op*, const davit_read*, davit_visit_record,
                  void* ctx, davit_page* out, davit_error*);
  /* Visits the records that match, query by query in their order: one that matches two queries
   * comes twice. It succeeds without a visit when none does. A visitor that stops ends the call.
   * All records and `out` are of one snapshot. */
  int32_t (*get)(davit_instance*, const davit_op*, const davit_get*, davit_visit_record, void* ctx,
                 davit_head* out, davit_error*);
  /* No two groups of one call share a key or a name. Each group has its own result. The call fails
   * as a whole (UNAVAILABLE) only when the store knows the result of none of the groups. The caller
   * then repeats the groups with the same request ids. An unknown critical flag of a record fails
   * the call with UNIMPLEMENTED, and nothing is committed. */
  int32_t (*commit)(davit_instance*, const davit_op*, const davit_group* const* groups,
                    size_t count, davit_group_result* const* results, davit_error*);
  /* Inserts or updates statuses and their children, and removes children that are missing (S8). It
   * ignores
   *  - a status whose (epoch, sequence) is not newer than the stored one;
   *  - a status of an unknown record;
   *  - a status of a history that the store has lost, unless it says gone. Its observed_version is
   *    above the record's version, or S10 refuses (observed_incarnation, observed_version). The
   *    store would otherwise take it for a status of a version that it has now or gives later. */
  int32_t (*report)(davit_instance*, const davit_op*, const davit_status* const*, size_t count,
                    davit_error*);
  /* Visits the statuses above the cursor in strictly ascending order of their status versions.
   * OUT_OF_RANGE when the cursor is of another history or above the status head (S10): whoever
   * keeps statuses forgets them and reads from the first. */
  int32_t (*statuses)(davit_instance*, const davit_op*, const davit_status_read*,
                      davit_visit_status, void* ctx, davit_status_page* out, davit_error*);
  /* Stores one agent's progress. */
  int32_t (*progress)(davit_instance*, const davit_op*, const davit_progress*, davit_error*);
  /* Visits the progress of the agents, in their order. */
  int32_t (*agents)(davit_instance*, const davit_op*, const davit_agent_read*, davit_visit_progress,
                    void* ctx, davit_agent_page* out, davit_error*);
  int32_t (*maintain)(davit_instance*, const davit_op*, const davit_maintain*, davit_error*);
  /* Optional: watch and unwatch are NULL when the store gives no hints. A watch hears hint(ctx,
   * what) soon after something may have become readable, by whomever it was written. Several writes
   * may share a hint, and a hint may be lost or spurious. There may be any number of watches. A
   * watch lasts until unwatch, which its owner calls before it lets go of ctx. Legal from start to
   * stop. [any] */
  int32_t (*watch)(davit_instance*, davit_storage_hint, void* ctx, davit_storage_watch** out,
                   davit_error*);
  /* Ends a watch. It waits for a hint of that watch that runs; when it returns, none runs and none
   * comes any more. Not to be called inside a hint, nor under a lock that a hint takes. [any] */
  void (*unwatch)(davit_instance*, davit_storage_watch*);
  /* Visits the chain that S10 judges by, in one snapshot, the oldest link first: each incarnation
   * with the version where it ended, and the current one with the head's version. Agents judge the
   * objects in their clusters by it: an agent leaves an object alone when the store may have lost
   * its record. A store keeps enough links for the agents that may come back; it trims the chain so
   * that it always fits into one message. */
  int32_t (*history)(davit_instance*, const davit_op*, davit_visit_cursor, void* ctx, davit_error*);
} davit_storage;

/* The host's commit queue in front of a storage instance. Groups that wait are committed together.
 * `storage` is the instance's name. The slots copy their arguments before they return, and call
 * `done` once, on a pool thread. op lives until then. [any]
 *
 * What the caller no longer wants when its turn comes is answered CANCELLED or DEADLINE_EXCEEDED,
 * and the storage does not see it. Of what goes together into one call of the storage, the latest
 * deadline holds, and the call is cancelled when every caller has given up. */
#define DAVIT_COMMIT "davit.commit/1"
typedef void (*davit_commit_done)(void* ctx, const davit_group_result*);
typedef void (*davit_report_done)(void* ctx, int32_t code, const davit_error*);
typedef struct davit_commit {
  uint32_t struct_size;
  uint32_t reserved;
  void (*commit)(const davit_host*, davit_str storage, const davit_op*, const davit_group*,
                 davit_commit_done, void* ctx);
  void (*report)(const davit_host*, davit_str storage, const davit_op*, const davit_status* const*,
                 size_t count, davit_report_done, void* ctx);
} davit_commit;

#ifdef __cplusplus
}
#endif
#endif
