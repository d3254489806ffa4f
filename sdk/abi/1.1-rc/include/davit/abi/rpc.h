/* RPC as bytes. The host owns transports, TLS, tokens and descriptors. A plugin serves and calls
 * methods, and sees encoded messages.
 *
 *  - Both ends of a call have the same handler type. Every callback of a call runs on the strand
 *    that was given with the handler.
 *  - Flow control: each `read` grants one on_message. One write may be outstanding, and on_writable
 *    grants the next.
 *  - on_done comes exactly once after every accept and every start, and is the last callback. At
 *    the calling end it comes after all messages of the peer, so read until NULL, or cancel.
 *  - A call's handle is valid until on_done has returned. The handle of a served call is also valid
 *    until on_call has returned. */
#ifndef DAVIT_ABI_RPC_H
#define DAVIT_ABI_RPC_H

#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct davit_rpc_call davit_rpc_call;
typedef struct davit_rpc_channel davit_rpc_channel;

/* The caller. The host has verified it by a token, a certificate or a socket's peer. */
typedef struct davit_identity {
  uint32_t struct_size;
  uint32_t regions_count;
  davit_str name; /* for logs and audit: the token's name or the peer's user */
  davit_str role; /* a lower_snake_case word: "agent", "operator", or one of a plugin's methods */
  const davit_str* regions; /* the regions that an agent may name */
} davit_identity;

/* A detail of an error besides its text: an encoded message of the type `type` (as in
 * google.rpc.Status). Never grows. */
typedef struct davit_rpc_detail {
  davit_str type; /* full message name */
  davit_bytes value;
} davit_rpc_detail;

/* How a call ended. */
typedef struct davit_rpc_end {
  uint32_t struct_size;
  int32_t code;
  davit_str message;
  const davit_pair* trailers; /* trailing metadata; keys in lower case */
  size_t trailers_count;
  const davit_rpc_detail* details; /* of an error */
  size_t details_count;
} davit_rpc_end;

/* The callbacks of a call. */
typedef struct davit_rpc_handler {
  uint32_t struct_size;
  uint32_t reserved;
  /* Answers one `read`. The message is NULL when the peer sends no more. It is borrowed: retain it
   * to keep it. */
  void (*on_message)(void* self, davit_buf* message);
  /* The write is done, and the next may come. Not called after on_cancel. Calling end: a write is
   * done once it has gone out, so not before there is a connection. Not called after half_close. */
  void (*on_writable)(void* self);
  /* Serving end only: the peer has gone, or the deadline has passed. The call does not end by
   * itself: answer with finish. */
  void (*on_cancel)(void* self);
  void (*on_done)(void* self, const davit_rpc_end* end);
  /* Calling end only: the headers of the answer, before the first on_message. Called at most once;
   * a call that fails may have no headers. Keys are in lower case. Optional. */
  void (*on_headers)(void* self, const davit_pair* headers, size_t count);
} davit_rpc_handler;

#define DAVIT_RPC_CLIENT_STREAMS 1u
#define DAVIT_RPC_SERVER_STREAMS 2u
/* A method to serve. `serve` copies it. */
typedef struct davit_rpc_method {
  uint32_t struct_size;
  uint32_t streaming;                    /* DAVIT_RPC_..._STREAMS */
  davit_str path;                        /* "davit.v1.AgentService/Watch" */
  davit_str request_type, response_type; /* full message names */
  davit_bytes descriptor_set;            /* for reflection and JSON */
  davit_str role; /* the role that the caller must have, a lower_snake_case word; empty: any */
  uint32_t request_bytes_max; /* 0 = 4 MiB */
  uint32_t reserved;
  void* self;
  /* A call has arrived. The host has verified the caller's credentials and role. Answer with
   * accept, in this call or soon after it. [any] */
  void (*on_call)(void* self, davit_rpc_call*);
  /* The host does not use `self` again. After a serve that succeeded, this is called once and last.
   * Optional. */
  void (*release)(void* self);
} davit_rpc_method;

/* A call to make. `start` copies what it keeps. */
typedef struct davit_rpc_start {
  uint32_t struct_size;
  uint32_t metadata_count;
  davit_str path;
  const davit_pair* metadata; /* in addition to the channel's own (token, region) */
  int64_t deadline_ns;        /* on the host's monotonic clock; INT64_MAX = none */
  uint32_t streaming;         /* the method's DAVIT_RPC_..._STREAMS */
  uint32_t reserved;
} davit_rpc_start;

#define DAVIT_RPC "davit.rpc/1"
typedef struct davit_rpc {
  uint32_t struct_size;
  uint32_t reserved;

  /* Serving. Call `serve` only during wire. */
  int32_t (*serve)(const davit_host*, const davit_rpc_method*, davit_error*);
  void (*accept)(davit_rpc_call*, davit_strand*, const davit_rpc_handler*, void* self);
  const davit_identity* (*identity)(const davit_rpc_call*);
  davit_str (*metadata)(const davit_rpc_call*, davit_str key); /* lower-case key; empty = absent */
  davit_str (*peer)(const davit_rpc_call*);
  /* 1 when a token of one of this host's servers admits agents of the region, else 0. [any] */
  int32_t (*region_known)(const davit_host*, davit_str region);
  /* Ends a served call. Writes that were made before it are still sent. Call it once. */
  void (*finish)(davit_rpc_call*, const davit_rpc_end*);

  /* Calling. The configuration names the channels ([rpc.client.NAME]). The host connects,
   * reconnects and adds credentials. Call `channel` only during wire. */
  int32_t (*channel)(const davit_host*, davit_str name, davit_rpc_channel** out, davit_error*);
  davit_str (*channel_region)(const davit_rpc_channel*);
  davit_str (*channel_platform)(const davit_rpc_channel*); /* where the region is; may be empty */
  davit_str (*channel_agent)(const davit_rpc_channel*);    /* this agent's name */
  davit_str (*channel_protocol)(const davit_rpc_channel*); /* "davit.v1" or "ctrl.v1" */
  /* Call it on the strand that it takes, so that no callback comes before `start` has returned the
   * handle. */
  davit_rpc_call* (*start)(davit_rpc_channel*, const davit_rpc_start*, davit_strand*,
                           const davit_rpc_handler*, void* self);
  void (*half_close)(davit_rpc_call*); /* nothing more to write */
  void (*cancel)(davit_rpc_call*);     /* on_done follows with CANCELLED */

  /* Both ends. */
  void (*read)(davit_rpc_call*); /* grants one on_message */
  /* Writes one message that is made of parts, in order. The host retains the parts until they are
   * written. */
  void (*write)(davit_rpc_call*, davit_buf* const* parts, size_t parts_count);

  /* Serving. Adds headers to the answer. Call it before the first write and before finish, which
   * send them. Keys are in lower case. */
  void (*headers)(davit_rpc_call*, const davit_pair* headers, size_t count);
  /* The caller's deadline on the host's monotonic clock; INT64_MAX = none. */
  int64_t (*deadline_ns)(const davit_rpc_call*);
} davit_rpc;

#ifdef __cplusplus
}
#endif
#endif
