/* What a storage keeps, and what the other roles pass on: records of desired state, and what agents
 * report of them: statuses, issues and progress. storage.h has the contract of the store. */
#ifndef DAVIT_ABI_RECORDS_H
#define DAVIT_ABI_RECORDS_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The longest names, in bytes: those of Kubernetes. */
#define DAVIT_KIND_BYTES_MAX 63u
#define DAVIT_REGION_BYTES_MAX 63u
/* Of ids, names in the cluster, agents' and children's names. */
#define DAVIT_NAME_BYTES_MAX 253u
#define DAVIT_NAMESPACE_BYTES_MAX 63u
#define DAVIT_REQUEST_ID_BYTES_MAX 1024u

/* (kind, region, id). Never grows. */
typedef struct davit_key {
  davit_str kind, region, id;
} davit_key;

/* A position in the store's history: among its records, or, where it says so, among its statuses.
 * Never grows. Version 0 is before the first version. An incarnation is any number but 0, of 64
 * bits. A cursor is valid only while `incarnation` is in the store's chain and `version` is not
 * above the version (of that counter) where that incarnation ended (S10). */
typedef struct davit_cursor {
  uint64_t incarnation, version;
} davit_cursor;
/* A visitor returns 0 to go on, 1 to stop. Its argument is borrowed for the visit. */
typedef int32_t (*davit_visit_cursor)(void* ctx, const davit_cursor*);

#define DAVIT_RECORD_LIVE DAVIT_CRITICAL(0)

/* A record of desired state. In a mutation, version and committed_at_unix_ms are ignored. */
typedef struct davit_record {
  uint32_t struct_size;
  uint32_t flags;
  davit_key key;
  davit_str ns, name; /* in the cluster; both empty when the record is deleted and another record
                         has taken its name (S13) */
  davit_str state;    /* a word of the kind, or "deleted" */
  uint64_t version;
  davit_bytes payload; /* opaque; a tombstone has that of the mutation that deleted the record */
  davit_str json; /* the payload as JSON, for people who query the store. A store keeps it as it
                     is, or reads it as empty */
  int64_t committed_at_unix_ms;
  davit_str author, request_id;
  const davit_pair* annotations;
  size_t annotations_count;
} davit_record;
typedef int32_t (*davit_visit_record)(void* ctx, const davit_record*);

/* A part of a record's object that a status reports one by one, such as a pod. */
typedef struct davit_child {
  uint32_t struct_size;
  uint32_t reserved;
  davit_str name, address, status; /* status: pending, running, failed or inactive */
  int64_t cpu_millicores, memory_mib;
} davit_child;

/* Nothing is left in the cluster. The store removes the children. */
#define DAVIT_STATUS_GONE DAVIT_CRITICAL(0)
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
  /* The record's namespace and name, for peers that know no ids. In `report` they are as the agent
   * knows them, and may be empty. A store answers with those of its record. */
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

#ifdef __cplusplus
}
#endif
#endif
