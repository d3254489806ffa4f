/* Role kind: all that one kind of resource means, on both sides. Pure and re-entrant: no I/O,
 * clock, thread or state beyond the settings read in create. All slots are [any] and legal from
 * create on.
 *
 * JSON of a record's apply message is what the host's codec makes of it: proto3 JSON, proto field
 * names, 64-bit integers as strings, absent fields left out, declared JSON bytes shown nested. */
#ifndef DAVIT_ABI_KIND_H
#define DAVIT_ABI_KIND_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How the kind treats a resource: owned ones are stamped, repaired and pruned; seen ones (pods) are
 * only watched; ensured ones (namespaces) are created when absent and never owned. */
#define DAVIT_RESOURCE_OWNED 1
#define DAVIT_RESOURCE_SEEN 2
#define DAVIT_RESOURCE_ENSURED 3
/* A Kubernetes resource the kind may ever have made, or must see. */
typedef struct davit_kind_resource {
  uint32_t struct_size;
  int32_t role;             /* DAVIT_RESOURCE_... */
  davit_str group, version; /* group "" = core */
  davit_str resource;       /* "replicasets" */
  davit_str kind;           /* "ReplicaSet" */
  uint32_t namespaced;
  uint32_t keep_count;
  davit_str selector; /* label selector of the watch; empty = not watched */
  /* What reconcile reads of a seen object besides name, namespace, uid, resourceVersion and
   * deletionTimestamp: JSON pointers (RFC 6901), "*" is each element of a list. Nothing else of it
   * is stored; attribute sees all of its metadata as well. */
  const davit_str* keep;
} davit_kind_resource;

/* Names of this kind on the ctrl.v1 wire. */
typedef struct davit_kind_ctrl_v1 {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str watch;  /* "WatchDeployments" */
  davit_str get;    /* "GetDesiredDeploymentState" */
  davit_str report; /* "ReportDeploymentStatus"; empty = none */
  davit_str state_type, watch_type, get_type, report_type,
      report_response_type; /* full message names */
} davit_kind_ctrl_v1;

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
  davit_str default_state;           /* the state of a document that names none: "running" */
} davit_kind_description;

/* What a record is called. Never grows. */
typedef struct davit_named {
  davit_str id, ns, name;
} davit_named;
typedef void (*davit_visit_named)(void* ctx, const davit_named*);

#define DAVIT_CLASS_UNHANDLED 0 /* logged once, streamed as a hold, INTERNAL in a point query */
#define DAVIT_CLASS_APPLY 1
#define DAVIT_CLASS_DELETE 2

#define DAVIT_KIND "davit.kind/1"
typedef struct davit_kind {
  uint32_t struct_size;
  uint32_t reserved;

  const davit_kind_description* (*describe)(davit_instance*); /* lives as long as the instance */

  /* Calls `visit` once with what the apply message is called. */
  int32_t (*identify)(davit_instance*, davit_str apply, davit_visit_named visit, void* ctx,
                      davit_error*);
  /* DAVIT_OK, or INVALID_ARGUMENT with the field's path in error.where
   * ("autoscaling.max_replicas"). */
  int32_t (*validate)(davit_instance*, davit_str apply, davit_error*);
  /* DAVIT_CLASS_... of a state word. "deleted" is never asked. `apply` may be empty. */
  int32_t (*classify)(davit_instance*, davit_str state, davit_str apply);

  /* The heart: level-based. Input:
   * {"record": {"id", "region", "namespace", "name", "version": "17"},
   *  "desired": {apply message},      absent: delete
   *  "observed": [objects attributed to this record: owned ones whole, seen ones as kept],
   *  "now_unix_ms": 0}
   * Output:
   * {"apply": [{"object": {...}, "mode": "apply" | "ensure" | "shared", "owner": index in this
   * array, "controller": false, "replace_on_immutable": false}],      in this order; mode default
   * "apply" "delete": [{"group", "version", "resource", "namespace", "name"}],    in this order
   *  "status": {"gone": false, "health", "desired", "updated", "ready", "stale", "message",
   * "detail": {...}, "children": [{"name", "address", "status", "cpu_millicores", "memory_mib"}]},
   *  "look_again_ms": 0}              0 = only when something changes
   * Counts are JSON numbers. Nothing desired and nothing observed: no deletes and "gone": true. */
  int32_t (*reconcile)(davit_instance*, davit_str input, const davit_sink* json, davit_error*);

  /* Calls `visit` once with namespace and name of the record an observed object belongs to (id may
   * be empty); NOT_FOUND when none can be told. */
  int32_t (*attribute)(davit_instance*, davit_str object, davit_visit_named visit, void* ctx,
                       davit_error*);

  /* For peers that speak ctrl.v1; NULL when description.ctrl_v1 is. */
  /* JSON of the whole state message that deletes it: {"delete": {...}} without a version. */
  int32_t (*delete_message)(davit_instance*, const davit_named*, const davit_sink* json,
                            davit_error*);
  /* JSON of the report request. */
  int32_t (*to_report)(davit_instance*, const davit_named*, const davit_status*,
                       const davit_sink* json, davit_error*);
  /* JSON of the report request: visits who it speaks of (id may be empty), then what it says. */
  int32_t (*from_report)(davit_instance*, davit_str report, davit_visit_named named,
                         davit_visit_status status, void* ctx, davit_error*);

  /* Optional: NULL, or left out of a table that ends before it; then a valid message is sent as it
   * is. JSON of the apply message as ctrl.v1 peers are told it; nothing is written when it is sent
   * as it is. INVALID_ARGUMENT as of validate: it is not valid, or that wire cannot say it. An
   * agent of Krane's that refuses one message stops there, so such a record is not sent. */
  int32_t (*apply_message)(davit_instance*, davit_str apply, const davit_sink* json, davit_error*);
} davit_kind;

#ifdef __cplusplus
}
#endif
#endif
