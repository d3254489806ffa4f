/* Role kind: what one kind of resource means. The server's plugins ask a kind to validate and name
 * a record. The applier asks it to reconcile. A kind is pure and re-entrant: it has no I/O, clock,
 * thread or state beyond the settings read in create. All slots are [any] and legal from create on.
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
   * list. The agent stores nothing else of the object. `attribute` sees all of its metadata, too.
   */
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
} davit_kind_description;

/* What identifies a record within its kind and region: its id, and its namespace and name in the
 * cluster. Never grows. */
typedef struct davit_named {
  davit_str id, ns, name;
} davit_named;
typedef void (*davit_visit_named)(void* ctx, const davit_named*);

/* What a state word asks for. The streamer logs UNHANDLED once, sends the record as a hold, and
 * answers a query for it with INTERNAL. */
#define DAVIT_CLASS_UNHANDLED 0
#define DAVIT_CLASS_APPLY 1
#define DAVIT_CLASS_DELETE 2

#define DAVIT_KIND "davit.kind/1"
typedef struct davit_kind {
  uint32_t struct_size;
  uint32_t reserved;

  const davit_kind_description* (*describe)(davit_instance*); /* lives as long as the instance */

  /* Calls `visit` once with the id, namespace and name that the apply message has. */
  int32_t (*identify)(davit_instance*, davit_str apply, davit_visit_named visit, void* ctx,
                      davit_error*);
  /* Returns DAVIT_OK, or INVALID_ARGUMENT with the field's path in error.where
   * ("autoscaling.max_replicas"). */
  int32_t (*validate)(davit_instance*, davit_str apply, davit_error*);
  /* Returns the DAVIT_CLASS_... of a state word. The word is never "deleted". `apply` may be empty.
   */
  int32_t (*classify)(davit_instance*, davit_str state, davit_str apply);

  /* Compares desired and observed state, and says what to do. It is level-based: the answer depends
   * on this input alone. Input:
   *
   *   {"record": {"id", "region", "namespace", "name", "version": "17"},
   *    "desired": {apply message},
   *    "observed": [objects attributed to this record],
   *    "now_unix_ms": 0}
   *
   * Without "desired" the record is deleted. Owned objects are whole. Seen objects have only the
   * parts that `keep` describes. Output:
   *
   *   {"apply": [{"object": {...}, "mode": "apply" | "ensure" | "shared", "owner": 0,
   *               "controller": false, "replace_on_immutable": false}],
   *    "delete": [{"group", "version", "resource", "namespace", "name"}],
   *    "status": {"gone": false, "health", "desired", "updated", "ready", "stale", "message",
   *               "detail": {...},
   *               "children": [{"name", "address", "status", "cpu_millicores", "memory_mib"}]},
   *    "look_again_ms": 0}
   *
   * The applier keeps the order of "apply" and of "delete". The default of "mode" is "apply".
   * "owner" is the index of an earlier entry of "apply". "look_again_ms" 0 means: only when
   * something changes. Counts are JSON numbers. When nothing is desired and nothing is observed,
   * the kind answers without deletes and with "gone": true. */
  int32_t (*reconcile)(davit_instance*, davit_str input, const davit_sink* json, davit_error*);

  /* Calls `visit` once with the namespace and name of the record that an observed object belongs
   * to; the id may be empty. NOT_FOUND when the kind cannot tell. */
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
