/* Role actuator: builds, changes and removes the infrastructure of clusters. The cluster controller
 * calls it for each Cluster (cluster.k8s.io/v1alpha1). An actuator needs to know neither the
 * Kubernetes API nor the controller. The role is the `Actuator` interface of Cluster API v1alpha1,
 * with what that lacked: answers that come later, limits and delays. Include this header beside
 * abi.h.
 *
 * The contract. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * T1  Answered once. Each call of `reconcile` and `remove` is answered exactly once, on any thread,
 *     perhaps before the slot returns. `stop` answers what is open before it returns. What is
 *     called later is answered UNAVAILABLE.
 * T2  The caller's limits hold. After op's deadline, or once the caller has cancelled, a call is
 *     answered DEADLINE_EXCEEDED or CANCELLED. What it has begun may go on: the next call finds it.
 * T3  Idempotent. `reconcile` looks at what is there, makes what is missing and changes what
 *     differs. With nothing to do it does nothing and succeeds, however often it is called.
 * T4  `remove` succeeds when nothing of the cluster is left, also when there never was anything. It
 *     needs no configuration that only `reconcile` needs, such as a valid providerSpec, or one of
 *     this actuator's: of a cluster that nobody is known to have begun, all are called.
 * T5  Nothing is kept in memory that a call needs. After a crash between any two steps the same
 *     call comes again, perhaps with an older cluster, and goes on: one cluster, never two.
 * T6  Whose it is. A cluster is told by its uid. A name is used again: what another uid has made
 *     under this name is neither changed nor removed. `reconcile` is answered ALREADY_EXISTS then;
 *     `remove` succeeds, because nothing of this cluster is there.
 * T7  One at a time. The caller has at most one call open for one uid. Calls for several clusters
 *     overlap, and a slow one holds no other.
 * T8  Long work is begun and not awaited: the call is answered with requeue_after_ms, and the next
 *     one looks how far it is. Neither an error nor a success says so.
 * T9  Codes. INVALID_ARGUMENT: the cluster can never be built as it is; `where` is the field, such
 *     as "spec.providerSpec.value.zone". UNIMPLEMENTED: its providerSpec is of another provider.
 *     PERMISSION_DENIED and UNAUTHENTICATED: the provider refuses the instance. UNAVAILABLE, with
 *     retry_after_ms when it is known: try again later. Each is retried by the caller, with a
 *     back-off. A crash, a time-out or an answer that cannot be read is never a success.
 * T10 Not there is not removed. `remove` that could not look (the provider is away) fails.
 * T11 Nothing is shown. No text of an error, an event or a log line has a credential.
 *
 * The cluster is JSON as the API server has it, with unknown fields and exact numbers. providerSpec
 * and providerStatus are the actuator's own: nobody else reads them. */
#ifndef DAVIT_ABI_ACTUATOR_H
#define DAVIT_ABI_ACTUATOR_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What happened, for people: an event of Kubernetes at the Cluster. Borrowed for the call. */
typedef struct davit_actuator_event {
  uint32_t struct_size;
  int32_t warning;   /* 1: of type Warning; 0: of type Normal */
  davit_str reason;  /* one word in UpperCamelCase: "LoadBalancerCreated" */
  davit_str message; /* a sentence */
} davit_actuator_event;

/* One cluster that is to be looked at. Borrowed for the call. */
typedef struct davit_actuator_call {
  uint32_t struct_size;
  uint32_t flags;
  davit_str ns, name, uid;
  davit_str cluster; /* the whole Cluster as JSON; it may be older than what is stored */
  /* Tells an event while the call is open. NULL: nobody wants any. It does not block. [any] */
  void (*event)(void* self, const davit_actuator_event*);
  void* self; /* for `event`; lives until `done` has returned */
} davit_actuator_call;

/* The answer to a call. Borrowed for `done`. */
typedef struct davit_actuator_result {
  uint32_t struct_size;
  uint32_t reserved;
  const davit_error* error; /* NULL: it is done, or goes on when requeue_after_ms is not 0 */
  /* When the caller is to call again, at the latest; 0 = when something changes. With an error it
   * is ignored: the error's retry_after_ms counts. */
  int64_t requeue_after_ms;
  /* A JSON merge patch (RFC 7386) for the Cluster's status: apiEndpoints, providerStatus. The
   * caller writes it if it changes something, also beside an error. Empty = nothing. */
  davit_str status_patch;
  /* Of an error: a token for status.errorReason, such as "InvalidConfiguration",
   * "UnsupportedChange", "CreateError", "UpdateError" or "DeleteError". Empty = the caller chooses
   * by the code. */
  davit_str error_reason;
  davit_str progress; /* what is being waited for, for people; empty = nothing is */
} davit_actuator_result;
typedef void (*davit_actuator_done)(void* ctx, const davit_actuator_result*);

#define DAVIT_ACTUATOR "davit.actuator/1"
/* op is never NULL, and lives until `done` has been called. All other arguments are borrowed for
 * the call. `done` does not block. Legal from start on. [any] */
typedef struct davit_actuator {
  uint32_t struct_size;
  uint32_t reserved;
  void (*reconcile)(davit_instance*, const davit_op*, const davit_actuator_call*,
                    davit_actuator_done, void* ctx);
  void (*remove)(davit_instance*, const davit_op*, const davit_actuator_call*, davit_actuator_done,
                 void* ctx);
} davit_actuator;

#ifdef __cplusplus
}
#endif
#endif
