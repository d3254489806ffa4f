/* Role cluster: one Kubernetes API, any resource. Bodies are JSON. */
#ifndef DAVIT_ABI_CLUSTER_H
#define DAVIT_ABI_CLUSTER_H

#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A resource of the API: group "" is the core group. Never grows. */
typedef struct davit_resource {
  davit_str group, version, resource;
} davit_resource;

#define DAVIT_VERB_GET "get"       /* also list, when name is empty */
#define DAVIT_VERB_CREATE "create" /* POST */
#define DAVIT_VERB_APPLY                                                                          \
  "apply" /* server-side apply: PATCH application/apply-patch+yaml; query has fieldManager, force \
           */
#define DAVIT_VERB_MERGE "merge"   /* PATCH application/merge-patch+json */
#define DAVIT_VERB_UPDATE "update" /* PUT */
#define DAVIT_VERB_DELETE "delete" /* body: DeleteOptions, may be empty */

typedef struct davit_cluster_request {
  uint32_t struct_size;
  uint32_t query_count;
  davit_str verb;
  davit_resource resource;
  davit_str ns, name, subresource; /* empty = none */
  const davit_pair* query;
  const davit_pair* headers;
  size_t headers_count;
  davit_bytes body;
  int64_t deadline_ns; /* host's monotonic clock; INT64_MAX = the cluster's own limit */
} davit_cluster_request;

/* code: DAVIT_OK for 2xx; INVALID_ARGUMENT 400, 422; UNAUTHENTICATED 401; PERMISSION_DENIED 403;
 * NOT_FOUND 404; ALREADY_EXISTS 409 AlreadyExists; ABORTED other 409; OUT_OF_RANGE 410;
 * RESOURCE_EXHAUSTED 429; INTERNAL 500; UNAVAILABLE no answer, 502, 503; DEADLINE_EXCEEDED 504 and
 * time-outs. */
typedef struct davit_cluster_response {
  uint32_t struct_size;
  int32_t code;
  int32_t http_status;     /* 0 = there was no answer */
  uint32_t retry_after_ms; /* 0 = not stated */
  davit_str reason;        /* Status.reason ("Invalid", "Conflict", ...) */
  davit_str message;       /* for people */
  davit_bytes body;
  const davit_pair* headers;
  size_t headers_count;
} davit_cluster_response;
typedef void (*davit_cluster_done)(void* ctx, const davit_cluster_response*);

typedef struct davit_cluster_watch davit_cluster_watch;
#define DAVIT_WATCH_METADATA_ONLY 1u
typedef struct davit_cluster_watch_request {
  uint32_t struct_size;
  uint32_t flags;
  davit_resource resource;
  davit_str ns; /* empty = all */
  davit_str label_selector, field_selector;
  davit_str resource_version; /* empty = state first (initial events), then changes */
} davit_cluster_watch_request;

#define DAVIT_WATCH_ADDED 1
#define DAVIT_WATCH_MODIFIED 2
#define DAVIT_WATCH_DELETED 3
#define DAVIT_WATCH_RESTART \
  4 /* what was known is void: initial events follow again (410, first connect) */
#define DAVIT_WATCH_SYNCED \
  5 /* initial events are complete: what they did not name does not exist */
#define DAVIT_WATCH_TROUBLE 6 /* object = message; the watch goes on trying */
/* The API server answers and refuses: credentials, rights, a resource that must be there. object =
 * what it said; the watch goes on trying. SYNCED follows TROUBLE and REFUSED once the picture is
 * whole again, without a RESTART when it goes on where it was. A SYNCED whose object names no
 * resourceVersion: the resource is not installed, and nothing of it exists. */
#define DAVIT_WATCH_REFUSED 7
typedef struct davit_cluster_watcher {
  uint32_t struct_size;
  uint32_t reserved;
  /* Serialised per watch, on any thread. Each event uses one credit; none comes without. `object`
   * is JSON. */
  void (*event)(void* self, int32_t type, davit_bytes object);
  void (*ended)(void* self); /* answers cancel; once, last */
} davit_cluster_watcher;

#define DAVIT_CLUSTER "davit.cluster/1"
typedef struct davit_cluster {
  uint32_t struct_size;
  uint32_t reserved;
  /* Asynchronous; everything is copied before it returns; done comes exactly once, on any thread,
   * perhaps before request returns. [any] */
  void (*request)(davit_instance*, const davit_cluster_request*, davit_cluster_done, void* ctx);
  /* Reconnects by itself (bookmarks, 410, backoff) until cancelled. Starts with `credit` events
   * granted. [any] */
  davit_cluster_watch* (*watch)(davit_instance*, const davit_cluster_watch_request*,
                                uint32_t credit, const davit_cluster_watcher*, void* self);
  void (*credit)(davit_instance*, davit_cluster_watch*, uint32_t more);
  void (*cancel)(davit_instance*, davit_cluster_watch*);
  /* Group "apps", kind "ReplicaSet" -> resource, version and scope:
   * {"group","version","resource","kind", "namespaced"} in response.body; version empty in the
   * request = the preferred one. [any] */
  void (*discover)(davit_instance*, davit_str group, davit_str version, davit_str kind,
                   davit_cluster_done, void* ctx);
  /* Identity of this cluster (uid of kube-system) in response.body, as text. [any] */
  void (*identity)(davit_instance*, davit_cluster_done, void* ctx);
} davit_cluster;

#ifdef __cplusplus
}
#endif
#endif
