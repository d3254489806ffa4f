/* The services of the host. A plugin gets the table of a service by davit_host.query(host, ID). All
 * slots are [any] unless said otherwise. */
#ifndef DAVIT_ABI_SERVICES_H
#define DAVIT_ABI_SERVICES_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- log --- */
#define DAVIT_LOG "davit.log/1"
#define DAVIT_LOG_DEBUG 0
#define DAVIT_LOG_INFO 1 /* lifecycle, not per item */
#define DAVIT_LOG_WARN 2
#define DAVIT_LOG_ERROR 3 /* a person must act */
typedef struct davit_log {
  uint32_t struct_size;
  int32_t (*enabled)(const davit_host*, int32_t level);
  /* One line per event: short constant message, then fields. Never payloads, tokens or secrets. */
  void (*write)(const davit_host*, int32_t level, davit_str message, const davit_pair* fields,
                size_t fields_count);
} davit_log;

/* --- configuration --- */
/* The instance's own table, merged from all files. Only during create. `get` and `at` declare what
 * they read: an entry that neither asks for is an error that names file, line and key. */
#define DAVIT_CONFIG "davit.config/1"
#define DAVIT_CONFIG_NONE 0 /* the type of a NULL node */
#define DAVIT_CONFIG_TABLE 1
#define DAVIT_CONFIG_ARRAY 2
#define DAVIT_CONFIG_STRING 3
#define DAVIT_CONFIG_INTEGER 4
#define DAVIT_CONFIG_REAL 5
#define DAVIT_CONFIG_BOOLEAN 6
typedef struct davit_config_node davit_config_node;
typedef struct davit_config {
  uint32_t struct_size;
  const davit_config_node* (*root)(const davit_host*); /* a table, never NULL */
  int32_t (*type)(const davit_config_node*);
  const davit_config_node* (*get)(const davit_config_node* table,
                                  davit_str key); /* NULL = absent */
  size_t (*size)(const davit_config_node*);       /* entries of a table or an array */
  const davit_config_node* (*at)(const davit_config_node*,
                                 size_t index); /* NULL = beyond the end */
  davit_str (*key)(const davit_config_node*);   /* full dotted key */
  davit_str (*where)(const davit_config_node*); /* "agent.toml:12" */
  /* The value of a node of this type. Ask `type` first. */
  davit_str (*string)(const davit_config_node*);
  int64_t (*integer)(const davit_config_node*);
  double (*real)(const davit_config_node*);
  int32_t (*boolean)(const davit_config_node*);
  /* Notes a fault of this node: "agent.toml:12: plugin.applier.workers: <message>". The host
   * reports all faults together after create. Create then counts as failed, whatever it returns. */
  void (*reject)(const davit_host*, const davit_config_node*, davit_str message);
} davit_config;

/* --- metrics --- */
/* Names and labels follow Prometheus. The same name and labels give the same metric. A metric lives
 * as long as the process. */
#define DAVIT_METRICS "davit.metrics/1"
#define DAVIT_COUNTER 1
#define DAVIT_GAUGE 2
#define DAVIT_HISTOGRAM 3 /* seconds; buckets 1 ms to 60 s */
typedef struct davit_metric davit_metric;
typedef struct davit_metrics {
  uint32_t struct_size;
  davit_metric* (*metric)(const davit_host*, int32_t type, davit_str name, davit_str help,
                          const davit_pair* labels, size_t labels_count);
  void (*add)(davit_metric*, double);     /* counter, gauge */
  void (*set)(davit_metric*, double);     /* gauge */
  void (*observe)(davit_metric*, double); /* histogram */
} davit_metrics;

/* --- strands, timers, blocking pool --- */
/* A strand runs its tasks one at a time, in order, on the host's threads. */
#define DAVIT_EXEC "davit.exec/1"
typedef struct davit_strand davit_strand;
typedef void (*davit_task)(void* arg);
/* Runs exactly once, on the strand. fired: 1 = the time came, 0 = the timer was cancelled. */
typedef void (*davit_timer_task)(void* arg, int32_t fired);
typedef struct davit_exec {
  uint32_t struct_size;
  davit_strand* (*strand)(const davit_host*); /* a new strand; the caller owns one reference */
  void (*strand_retain)(davit_strand*);
  void (*strand_release)(davit_strand*);
  /* Every posted task runs exactly once. Tasks of one strand run in order and never at the same
   * time. A task must not block. */
  void (*post)(davit_strand*, davit_task, void* arg);
  uint64_t (*timer)(davit_strand*, int64_t delay_ns, davit_timer_task, void* arg);
  void (*timer_cancel)(davit_strand*, uint64_t timer); /* no effect on an unknown or past timer */
  /* Runs the task exactly once on the pool of the named instance (empty = the caller's own), where
   * it may block. At most so many run at once as that pool has threads. The others wait in
   * order. */
  void (*blocking)(const davit_host*, davit_str instance, davit_task, void* arg);
} davit_exec;

/* --- clock and randomness --- */
/* A plugin uses these and no others, so that a test can control both. */
#define DAVIT_CLOCK "davit.clock/1"
typedef struct davit_clock {
  uint32_t struct_size;
  int64_t (*unix_ns)(const davit_host*);
  int64_t (*monotonic_ns)(const davit_host*);
  uint64_t (*random)(const davit_host*); /* uniform over 64 bits; not for keys */
} davit_clock;

/* --- look-up --- */
/* Another instance and one of its roles. Never grows. Valid until destroy of the instance that
 * looked it up. */
typedef struct davit_ref {
  davit_instance* self;
  const void* vtable;
  davit_str instance;
} davit_ref;
#define DAVIT_LOOKUP "davit.lookup/1"
/* Only during wire. The host starts an instance after those that it looked up, and stops it before
 * them. The host refuses a cycle. */
typedef struct davit_lookup {
  uint32_t struct_size;
  int32_t (*find)(const davit_host*, davit_str instance, davit_str interface_id, davit_ref* out,
                  davit_error*);
  void (*each)(const davit_host*, davit_str interface_id, void* ctx,
               void (*visit)(void* ctx, const davit_ref*));
} davit_lookup;

/* --- codec: protobuf bytes and JSON, from a descriptor set --- */
/* proto3 JSON with proto field names. 64-bit integers are strings, and absent fields are left out.
 * Unknown JSON fields and wrong types are INVALID_ARGUMENT with the field's path in error.where. */
#define DAVIT_CODEC "davit.codec/1"
typedef struct davit_schema davit_schema;
typedef struct davit_codec {
  uint32_t struct_size;
  /* descriptor_set: a serialized google.protobuf.FileDescriptorSet with all imports. json_fields:
   * full names of bytes fields that hold JSON ("ctrl.v1.ApplyDeployment.healthcheck"); the codec
   * shows that JSON nested. The schema lives as long as the process. */
  int32_t (*load)(const davit_host*, davit_bytes descriptor_set, const davit_str* json_fields,
                  size_t json_fields_count, const davit_schema** out, davit_error*);
  int32_t (*to_json)(const davit_schema*, davit_str type, davit_bytes message, const davit_sink*,
                     davit_error*);
  int32_t (*from_json)(const davit_schema*, davit_str type, davit_str json, const davit_sink*,
                       davit_error*);
  /* 1 when both messages have the same meaning. Field order and JSON white space do not count. */
  int32_t (*equal)(const davit_schema*, davit_str type, davit_bytes a, davit_bytes b);
} davit_codec;

/* --- credentials --- */
#define DAVIT_CREDENTIALS "davit.credentials/1"
/* The host wipes its buffer after `use` returns, and never logs the bytes. */
#define DAVIT_CREDENTIAL_SENSITIVE DAVIT_CRITICAL(0)
typedef struct davit_credentials {
  uint32_t struct_size;
  /* Reads the file at each call, and passes its bytes to `use` while the call runs. A relative path
   * is relative to the configuration file that names it. "credential:NAME" is the file NAME in
   * $CREDENTIALS_DIRECTORY (systemd). At most 1 MiB. May block on the disk. UNIMPLEMENTED when
   * `flags` has a critical bit that the host does not know. */
  int32_t (*read)(const davit_host*, davit_str path, uint32_t flags, void* ctx,
                  void (*use)(void* ctx, davit_bytes), davit_error*);
} davit_credentials;

/* --- state directory, health --- */
#define DAVIT_STATE "davit.state/1"
typedef struct davit_state {
  uint32_t struct_size;
  /* Writes the absolute path of this instance's own directory. Makes the directory with mode 0700
   * when `create` is 1. */
  int32_t (*directory)(const davit_host*, int32_t create, const davit_sink* path, davit_error*);
} davit_state;

#define DAVIT_HEALTH "davit.health/1"
#define DAVIT_HEALTH_STARTING 0
#define DAVIT_HEALTH_SERVING 1
#define DAVIT_HEALTH_DEGRADED 2 /* works, but a person should look */
#define DAVIT_HEALTH_NOT_SERVING 3
typedef struct davit_health {
  uint32_t struct_size;
  void (*set)(const davit_host*, int32_t health, davit_str reason);
} davit_health;

/* --- shutdown --- */
/* For conditions in which the process must not go on, such as a lost lease. Bad input is not
 * one. */
#define DAVIT_SHUTDOWN "davit.shutdown/1"
typedef struct davit_shutdown {
  uint32_t struct_size;
  /* Stops everything as SIGTERM does, and ends the process with code 1. At deadline_ns, on the
   * host's monotonic clock, the process ends whatever still runs. Returns at once. Of several
   * requests, the first one's reason is logged and the earliest deadline holds. */
  void (*request)(const davit_host*, davit_str reason, int64_t deadline_ns);
} davit_shutdown;

#ifdef __cplusplus
}
#endif
#endif
