/* Role kind: what one kind of resource means. The server's plugins ask a kind to validate and name
 * a record. The applier asks it to reconcile. A kind is pure and re-entrant: it has no I/O, clock,
 * thread or state beyond the settings read in create.
 *
 * Threads. `describe` is [any]. Every other slot is [pool]: it may take long, because a kind may
 * run in a process of its own. The caller calls it on a pool's thread (the kind instance's own
 * pool, or that of an instance on which it works anyway), holds no lock meanwhile, and is in no
 * visitor of the store. Slots are legal from create on.
 *
 * Errors. After CANCELLED, DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, ABORTED and UNAVAILABLE nothing
 * is known: the caller asks again, with back-off and not before retry_after_ms. Meanwhile the
 * record is delayed. Its stream's cursor waits, and other kinds go on. Any other error is final for
 * this input: the record is parked, held or refused with its text.
 *
 * The contract. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * K1  Pure. The same input is answered with the same bytes, on every thread and at every time. What
 *     a kind needs to know of the time is in the input.
 * K2  Any input is answered: with an error that blames the caller (INVALID_ARGUMENT, NOT_FOUND) and
 *     names the field in error.where, or with an answer of the right shape. Whatever stands in the
 *     cluster, a valid record gets an answer.
 * K3  What `validate` accepts, `identify` names and `reconcile` plans. `validate` refuses
 *     namespaces and names that Kubernetes does not take: no API server has seen the record yet.
 * K4  `attribute` finds the record of each object that the kind applies, and the selector of the
 *     object's resource matches it.
 * K5  Level. What the kind has just applied it applies again, and does not delete.
 * K6  An owned object of the record that is no longer wanted is in "delete". Nobody else deletes
 *     it: the applier prunes only objects whose record is gone. One that is in neither "apply" nor
 *     "delete" stays as it is.
 * K7  Without "desired" every owned object that is observed is in "delete", but none that has a
 *     deletionTimestamp. "gone" is true when nothing is observed any more, and not before.
 * K8  Counts are of what is observed. Where nothing is, "updated", "ready" and "stale" are 0 and
 *     the health is not healthy. The health is healthy when what is desired is there and works.
 *     While a record is being deleted, "desired" and "updated" are 0, "ready" is what still works,
 *     and all that is left is "stale".
 * K9  A kind asks for "needs" only a caller that understands them, once each, and not for what is
 *     gone.
 * K10 A kind knows its default state, and no state that it does not have: UNHANDLED.
 * K11 The description is complete: a kind's name, messages, resources, columns and slots.
 * K12 On ctrl.v1 a record is the same record, and a report reads as what was reported.
 *
 * The apply message is the message of a record's payload. A kind sees it as the JSON that the
 * host's codec makes (services.h): proto3 JSON, proto field names, 64-bit integers as strings,
 * absent fields left out, declared JSON bytes shown nested. */
#ifndef DAVIT_ABI_KIND_H
#define DAVIT_ABI_KIND_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How Davit treats the objects of a resource. It stamps, repairs and prunes owned ones. It only
 * watches seen ones, such as pods. It creates ensured ones, such as namespaces, when they are
 * absent, and never owns them. */
#define DAVIT_RESOURCE_OWNED 1
#define DAVIT_RESOURCE_SEEN 2
#define DAVIT_RESOURCE_ENSURED 3
/* A Kubernetes resource that the kind makes, or that an earlier version of it made, or that it must
 * see. */
typedef struct davit_kind_resource {
  uint32_t struct_size;
  int32_t role;             /* DAVIT_RESOURCE_... */
  davit_str group, version; /* group "" = core */
  davit_str resource;       /* "replicasets" */
  davit_str kind;           /* "ReplicaSet" */
  uint32_t namespaced;
  uint32_t keep_count;
  davit_str selector; /* label selector of the watch; empty = not watched */
  /* The parts of a seen object that reconcile reads besides name, namespace, uid, resourceVersion
   * and deletionTimestamp. Each is a JSON pointer (RFC 6901) in which "*" is each element of a
   * list. The agent stores nothing else of the object. `attribute` sees all of its metadata,
   * too. */
  const davit_str* keep;
} davit_kind_resource;

/* The names of this kind's methods and messages on the ctrl.v1 wire. */
typedef struct davit_kind_ctrl_v1 {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str watch;  /* "WatchDeployments" */
  davit_str get;    /* "GetDesiredDeploymentState" */
  davit_str report; /* "ReportDeploymentStatus"; empty = none */
  davit_str state_type, watch_type, get_type, report_type,
      report_response_type; /* full message names */
} davit_kind_ctrl_v1;

/* Where the value of a column is. A reader leaves out a column of a source that it does not
 * know. */
#define DAVIT_COLUMN_SPEC 1   /* in the apply message; `davit get KIND` shows it */
#define DAVIT_COLUMN_DETAIL 2 /* in the status's detail; `davit status KIND` shows it */
/* A column that the operator's tables show for records of this kind, beside those of every kind. It
 * is what Kubernetes calls an additional printer column. */
typedef struct davit_kind_column {
  uint32_t struct_size;
  int32_t source; /* DAVIT_COLUMN_... */
  davit_str name; /* the heading: 1 to 32 printable ASCII letters, unlike those of every kind */
  davit_str path; /* of the value: a JSON pointer (RFC 6901). A list of plain values is shown with
                     commas; what is absent or empty as "-" */
  davit_str type; /* "string", "integer", "number", "boolean", or "date": RFC 3339 or a number of
                     Unix milliseconds, shown as its age. Any other word stands for "string" */
  uint32_t priority; /* 0: always shown; else left out when there is no room, the highest first */
  uint32_t reserved;
} davit_kind_column;

/* What a kind says about itself. */
typedef struct davit_kind_description {
  uint32_t struct_size;
  uint32_t json_fields_count;
  davit_str kind;               /* lower_snake_case */
  davit_str apply_type;         /* full name of the payload's message: "ctrl.v1.ApplyDeployment" */
  davit_bytes descriptor_set;   /* serialized FileDescriptorSet with all imports */
  const davit_str* json_fields; /* full names of bytes fields that hold JSON */
  const davit_kind_resource* const* resources;
  size_t resources_count;
  const davit_kind_ctrl_v1* ctrl_v1; /* NULL = not on that wire */
  davit_str default_state;           /* the state of a document that names no state: "running" */
  const davit_kind_column* const* columns; /* in the order in which they are shown */
  size_t columns_count;
} davit_kind_description;

/* What identifies a record within its kind and region: its id, and its namespace and name in the
 * cluster. Never grows. */
typedef struct davit_named {
  davit_str id, ns, name;
} davit_named;
typedef void (*davit_visit_named)(void* ctx, const davit_named*);

/* What a state word asks for. Every caller takes a number that it does not know for UNHANDLED: the
 * record is held, never deleted. The streamer logs UNHANDLED once, sends the record as a hold, and
 * answers a query for it with INTERNAL. */
#define DAVIT_CLASS_UNHANDLED 0
#define DAVIT_CLASS_APPLY 1
#define DAVIT_CLASS_DELETE 2

#define DAVIT_KIND "davit.kind/1"
typedef struct davit_kind {
  uint32_t struct_size;
  uint32_t reserved;

  const davit_kind_description* (*describe)(davit_instance*); /* lives as long as the instance */

  /* Calls `visit` once with the id, namespace and name that the apply message has. The message has
   * the id, because agents get the message alone. The `id` of an operator's document may be left
   * out, and must be the same otherwise. */
  int32_t (*identify)(davit_instance*, davit_str apply, davit_visit_named visit, void* ctx,
                      davit_error*);
  /* Returns DAVIT_OK, or INVALID_ARGUMENT with the field's path in error.where
   * ("autoscaling.max_replicas"). */
  int32_t (*validate)(davit_instance*, davit_str apply, davit_error*);
  /* Writes the DAVIT_CLASS_... of a state word. The word is never "deleted". `apply` may be empty.
   * Without DAVIT_OK nothing is known of the record. After a code that means "retry later" (core.h)
   * the caller asks again; after any other it holds the record. */
  int32_t (*classify)(davit_instance*, davit_str state, davit_str apply, int32_t* out_class,
                      davit_error*);

  /* Compares desired and observed state, and says what to do. It is level-based: the answer depends
   * on this input alone. sdk/schemas (installed as share/davit/schemas) has JSON Schemas of both
   * shapes, and the conformance suite judges by them. Input:
   *
   *   {"record": {"id", "region", "namespace", "name", "version": "17", "state": "running",
   *               "annotations": {"key": "value"}},
   *    "desired": {apply message},
   *    "observed": [objects attributed to this record],
   *    "given": {"pull": {object} | null},
   *    "features": ["needs/object", "apply/secrets"],
   *    "now_unix_ms": 0}
   *
   * Without "desired" the record is deleted. Owned objects are whole. Seen objects have only the
   * parts that `keep` describes. "state" and "annotations" are left out when the peer does not send
   * them, "given" when the kind has asked for nothing. Output:
   *
   *   {"apply": [{"object": {...}, "mode": "apply" | "ensure" | "shared", "owner": 0,
   *               "controller": false, "replace_on_immutable": false,
   *               "secrets": [{"key": "PASSWORD", "decrypt": {"keyring", "ciphertext"}},
   *                           {"key": "TOKEN", "read": {"keyring", "ref", "field", "version"}}]}],
   *    "delete": [{"group", "version", "resource", "namespace", "name"}],
   *    "status": {"gone": false, "health", "desired", "updated", "ready", "stale", "message",
   *               "detail": {...},
   *               "children": [{"name", "address", "status", "cpu_millicores", "memory_mib"}]},
   *    "needs": [{"id": "pull", "from": "object",
   *               "ref": {"group", "version", "resource", "namespace", "name"}}],
   *    "look_again_ms": 0}
   *
   * The caller must understand every member. One that it does not know, in the output, an entry, a
   * status, a child or a ref, parks the record, and the reason names the member. So a kind uses a
   * member beyond these only when "features" lists it. Without "features" the caller knows none of
   * the optional ones that have a word there: "needs/object" (the member "needs", with the source
   * "object"), "apply/secrets" (the member "secrets" of an entry of "apply").
   *
   * "needs" is what the kind must know before it can answer; the rest of that output is not used,
   * and nothing is applied. The caller finds out and asks again, with the answers in "given" beside
   * all earlier ones. "id" is the kind's own name for the need. The source "object" is an object of
   * the cluster, read with the agent's rights; null when it does not exist. "namespace" and "group"
   * may be left out. Other sources will be instances of a role. An answer may have 32 needs, and
   * the caller asks again 4 times, for 1 MiB together. A kind that goes beyond that, or asks for
   * an id that it was given, parks the record. While a need cannot be met the record is delayed.
   *
   * "secrets" is the data of a v1 Secret that is applied and has neither "data" nor "stringData".
   * The applier has the values resolved by the role secrets just before it applies the Secret, so a
   * kind sees no plaintext. It resolves them again when what they come from changes, when somebody
   * has changed the Secret, and when their time is over. While one cannot be resolved, the record
   * is delayed, or parked when the item is to blame. Of Secrets the observed objects have the
   * metadata only, and "values", which has {key: true} for each value that is as it was applied.
   *
   * The applier keeps the order of "apply" and of "delete". The default of "mode" is "apply".
   * "ensure" makes the object when it is missing, and never changes it. "shared" is "apply" for an
   * object that several records want and that each renders alike, such as the Secret of a registry:
   * no record's version fences it.
   * "owner" is the index of an earlier entry of "apply". "look_again_ms" 0 means: only when
   * something changes. Counts are JSON numbers. When nothing is desired and nothing is observed,
   * the kind answers without deletes and with "gone": true. */
  int32_t (*reconcile)(davit_instance*, davit_str input, const davit_sink* json, davit_error*);

  /* Calls `visit` with the namespace and name of each record that an observed object belongs to;
   * the ids may be empty. Most objects belong to one record. One that several records share belongs
   * to each of them: a change of it wakes all, and it is not deleted for one of them. NOT_FOUND
   * when the object belongs to none. */
  int32_t (*attribute)(davit_instance*, davit_str object, davit_visit_named visit, void* ctx,
                       davit_error*);

  /* The slots from here on are for peers that speak ctrl.v1. They are NULL when the description's
   * ctrl_v1 is NULL.
   *
   * Writes the whole state message that deletes the record: {"delete": {...}} without a version. */
  int32_t (*delete_message)(davit_instance*, const davit_named*, const davit_sink* json,
                            davit_error*);
  /* Writes the request message that reports the status. */
  int32_t (*to_report)(davit_instance*, const davit_named*, const davit_status*,
                       const davit_sink* json, davit_error*);
  /* `report` is a report request. Visits the record that it is about (the id may be empty), then
   * its status. */
  int32_t (*from_report)(davit_instance*, davit_str report, davit_visit_named named,
                         davit_visit_status status, void* ctx, davit_error*);

  /* Optional: NULL. Without it a valid message is sent unchanged.
   * Writes the apply message as ctrl.v1 peers get it, or nothing when they get it unchanged.
   * INVALID_ARGUMENT, as from validate, when the message is not valid or when ctrl.v1 cannot
   * express it. The server does not send such a record: an agent of Krane's stops at a message
   * that it refuses. */
  int32_t (*apply_message)(davit_instance*, davit_str apply, const davit_sink* json, davit_error*);
} davit_kind;

#ifdef __cplusplus
}
#endif
#endif
