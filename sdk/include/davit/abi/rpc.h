/* RPC as bytes: the host owns transports, TLS, tokens and descriptors; a plugin sees encoded
 * messages.
 *
 * One handler shape serves both ends of a call. Every callback of a call runs on the strand that
 * was given with it. Flow control: reads are granted one at a time with `read`; one write may be
 * outstanding, and on_writable grants the next. on_done comes exactly once and last, after every
 * accept and every start; at the calling end messages that were not read stand before it, so read
 * until NULL, or cancel. A call's handle is valid until its on_done has returned, and for a served
 * call on_call, too. */
#ifndef DAVIT_ABI_RPC_H
#define DAVIT_ABI_RPC_H

#include "services.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct davit_rpc_call davit_rpc_call;
typedef struct davit_rpc_channel davit_rpc_channel;

/* Who calls: verified by the host from a token, a certificate or a socket's peer. */
typedef struct davit_identity {
  uint32_t struct_size;
  uint32_t regions_count;
  davit_str name;           /* for logs and audit: the token's name or the peer's user */
  davit_str role;           /* "agent" or "operator" */
  const davit_str* regions; /* what an agent may name */
} davit_identity;

/* What an error says beside its message: an encoded message of that type (google.rpc.Status). */
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

typedef struct davit_rpc_handler {
  uint32_t struct_size;
  uint32_t reserved;
  /* The answer to one `read`: a message, or NULL when the peer will send no more. Borrowed: retain
   * to keep. */
  void (*on_message)(void* self, davit_buf* message);
  /* The write is done and the next may come. Not called once on_cancel was. */
  void (*on_writable)(void* self);
  /* Serving end only: the peer has gone or the deadline passed. It only asks: answer with finish.
   */
  void (*on_cancel)(void* self);
  void (*on_done)(void* self, const davit_rpc_end* end);
  /* Calling end only: the head of the answer, before the first on_message. At most once; a call
   * that fails may have none. Keys in lower case. Optional. */
  void (*on_headers)(void* self, const davit_pair* headers, size_t count);
} davit_rpc_handler;

#define DAVIT_RPC_CLIENT_STREAMS 1u
#define DAVIT_RPC_SERVER_STREAMS 2u
/* A method to serve. Borrowed for `serve`, which copies it. */
typedef struct davit_rpc_method {
  uint32_t struct_size;
  uint32_t streaming;                    /* DAVIT_RPC_..._STREAMS */
  davit_str path;                        /* "davit.v1.AgentService/Watch" */
  davit_str request_type, response_type; /* full message names */
  davit_bytes descriptor_set;            /* for reflection and JSON */
  davit_str role;                        /* the caller's role it needs */
  uint32_t request_bytes_max;            /* 0 = 4 MiB */
  uint32_t reserved;
  void* self;
  /* A call has come, its credentials are good and its role fits. [any] Answer with accept, now or
   * soon. */
  void (*on_call)(void* self, davit_rpc_call*);
  /* The host will not use `self` again. After a serve that succeeded: once, last. Optional. */
  void (*release)(void* self);
} davit_rpc_method;

/* A call to make. Borrowed for `start`. */
typedef struct davit_rpc_start {
  uint32_t struct_size;
  uint32_t metadata_count;
  davit_str path;
  const davit_pair* metadata; /* beside the channel's own (token, region) */
  int64_t deadline_ns;        /* host's monotonic clock; INT64_MAX = none */
  /* What the method is: DAVIT_RPC_..._STREAMS. A caller without this member speaks gRPC only: other
   * transports begin a call that streams in another way. */
  uint32_t streaming;
  uint32_t reserved;
} davit_rpc_start;

#define DAVIT_RPC "davit.rpc/1"
typedef struct davit_rpc {
  uint32_t struct_size;
  uint32_t reserved;

  /* Serving. `serve` only during wire. */
  int32_t (*serve)(const davit_host*, const davit_rpc_method*, davit_error*);
  void (*accept)(davit_rpc_call*, davit_strand*, const davit_rpc_handler*, void* self);
  const davit_identity* (*identity)(const davit_rpc_call*);
  davit_str (*metadata)(const davit_rpc_call*, davit_str key); /* lower-case key; empty = absent */
  davit_str (*peer)(const davit_rpc_call*);
  /* 1: a token of one of this host's servers names the region for agents. 0: no agent of it could
   * come in. [any] */
  int32_t (*region_known)(const davit_host*, davit_str region);
  /* Ends a served call. Writes that were made before it are still sent. Once. */
  void (*finish)(davit_rpc_call*, const davit_rpc_end*);

  /* Calling. Channels are named in the configuration ([rpc.client.NAME]); the host connects,
   * reconnects, and adds credentials. Only during wire. */
  int32_t (*channel)(const davit_host*, davit_str name, davit_rpc_channel** out, davit_error*);
  davit_str (*channel_region)(const davit_rpc_channel*);
  davit_str (*channel_platform)(const davit_rpc_channel*); /* where the region is; may be empty */
  davit_str (*channel_agent)(const davit_rpc_channel*);    /* this agent's name */
  davit_str (*channel_protocol)(const davit_rpc_channel*); /* "davit.v1" or "ctrl.v1" */
  /* Called on the strand it names, so that no callback comes before the handle is known. */
  davit_rpc_call* (*start)(davit_rpc_channel*, const davit_rpc_start*, davit_strand*,
                           const davit_rpc_handler*, void* self);
  void (*half_close)(davit_rpc_call*); /* nothing more to write */
  void (*cancel)(davit_rpc_call*);     /* on_done follows with CANCELLED */

  /* Both ends. */
  void (*read)(davit_rpc_call*); /* grants one on_message */
  /* One message made of parts, in order. The host retains the parts until they are written. */
  void (*write)(davit_rpc_call*, davit_buf* const* parts, size_t parts_count);

  /* Serving. For the head of the answer, which goes out with the first write or the end: before
   * them. Keys in lower case. */
  void (*headers)(davit_rpc_call*, const davit_pair* headers, size_t count);
  /* Until when the caller waits, of the host's monotonic clock; INT64_MAX: for ever. */
  int64_t (*deadline_ns)(const davit_rpc_call*);
} davit_rpc;

#ifdef __cplusplus
}
#endif
#endif
