/* Role cluster: requests to one Kubernetes API and watches of it, for any resource. The applier
 * calls it. Bodies are JSON. */
#ifndef DAVIT_ABI_CLUSTER_H
#define DAVIT_ABI_CLUSTER_H

#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A resource of the API. Group "" is the core group. Never grows. */
typedef struct davit_resource {
  davit_str group, version, resource;
} davit_resource;

#define DAVIT_VERB_GET "get"       /* lists when the name is empty */
#define DAVIT_VERB_CREATE "create" /* POST */
/* Server-side apply: PATCH application/apply-patch+yaml. Query: fieldManager, force. */
#define DAVIT_VERB_APPLY "apply"
#define DAVIT_VERB_MERGE "merge"   /* PATCH application/merge-patch+json */
#define DAVIT_VERB_UPDATE "update" /* PUT */
#define DAVIT_VERB_DELETE "delete" /* the body is DeleteOptions, or empty */

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
} davit_cluster_request;

/* `code` follows from the HTTP status: DAVIT_OK for 2xx; INVALID_ARGUMENT for 400 and 422;
 * UNAUTHENTICATED for 401; PERMISSION_DENIED for 403; NOT_FOUND for 404; ALREADY_EXISTS for 409
 * with the reason AlreadyExists; ABORTED for any other 409; OUT_OF_RANGE for 410;
 * RESOURCE_EXHAUSTED for 429; INTERNAL for 500; UNAVAILABLE for 502, 503 and no answer;
 * DEADLINE_EXCEEDED for 504 and time-outs; CANCELLED when the caller gave up. After CANCELLED,
 * DEADLINE_EXCEEDED and UNAVAILABLE the API server may have carried out the request. */
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
/* Of each object the metadata is enough. */
#define DAVIT_WATCH_METADATA_ONLY 1u
typedef struct davit_cluster_watch_request {
  uint32_t struct_size;
  uint32_t flags;
  davit_resource resource;
  davit_str ns; /* empty = all */
  davit_str label_selector, field_selector;
  davit_str resource_version; /* empty = first the present state (initial events), then changes */
} davit_cluster_watch_request;

#define DAVIT_WATCH_ADDED 1
#define DAVIT_WATCH_MODIFIED 2
#define DAVIT_WATCH_DELETED 3
/* Forget what the watch has reported: the initial events follow again (first connect, 410). */
#define DAVIT_WATCH_RESTART 4
/* The initial events are complete: an object that they did not name does not exist. SYNCED also
 * follows TROUBLE and REFUSED, once what the watch has reported is complete again. There is no
 * RESTART in between when the watch goes on where it was. When the object of SYNCED names no
 * resourceVersion, the resource is not installed and no object of it exists. */
#define DAVIT_WATCH_SYNCED 5
/* The watch is interrupted and keeps trying. `object` is a message. */
#define DAVIT_WATCH_TROUBLE 6
/* The API server refuses the watch because of credentials, rights, or a resource that must exist.
 * The watch keeps trying. `object` is the API server's answer. */
#define DAVIT_WATCH_REFUSED 7
typedef struct davit_cluster_watcher {
  uint32_t struct_size;
  uint32_t reserved;
  /* Events of one watch are serialised, on any thread. Each uses one credit, and none comes without
   * credit. `object` is JSON, or a message as said above. */
  void (*event)(void* self, int32_t type, davit_bytes object);
  void (*ended)(void* self); /* the answer to cancel; once, and the last callback */
} davit_cluster_watcher;

#define DAVIT_CLUSTER "davit.cluster/1"
typedef struct davit_cluster {
  uint32_t struct_size;
  uint32_t reserved;
  /* Asynchronous. The slot copies the request. `done` comes exactly once, on any thread, perhaps
   * before the slot returns; op lives until then. Without a deadline the cluster's own limit holds.
   * A request that its caller cancels is answered soon. [any] */
  void (*request)(davit_instance*, const davit_op*, const davit_cluster_request*,
                  davit_cluster_done, void* ctx);
  /* Begins a watch, with `credit` events granted. The watch reconnects by itself (bookmarks, 410,
   * back-off) until it is cancelled. UNIMPLEMENTED when the request has an unknown critical flag;
   * the watcher is not called then. [any] */
  int32_t (*watch)(davit_instance*, const davit_cluster_watch_request*, uint32_t credit,
                   const davit_cluster_watcher*, void* self, davit_cluster_watch** out,
                   davit_error*);
  void (*credit)(davit_instance*, davit_cluster_watch*, uint32_t more);
  void (*cancel)(davit_instance*, davit_cluster_watch*);
  /* Finds the resource of a kind, such as "ReplicaSet" of group "apps". The response's body is
   * {"group", "version", "resource", "kind", "namespaced"}. An empty version asks for the preferred
   * one. Asynchronous, like `request`. [any] */
  void (*discover)(davit_instance*, const davit_op*, davit_str group, davit_str version,
                   davit_str kind, davit_cluster_done, void* ctx);
  /* Finds the identity of this cluster: the uid of the namespace kube-system. The response's body
   * is that text. Asynchronous, like `request`. [any] */
  void (*identity)(davit_instance*, const davit_op*, davit_cluster_done, void* ctx);
} davit_cluster;

#ifdef __cplusplus
}
#endif
#endif
