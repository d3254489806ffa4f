/* A cluster in front of another one, in C99: it logs each write, and passes everything on.
 *
 * Requests, watches, answers and events pass through as they come: what a later ABI adds to a
 * request, the next cluster gets. <davit/abi/cluster.h> has the shapes and the rules. Read this
 * file from the bottom: the entry, the plugin's steps, the slots of its role. */
#include <davit/abi.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault.h"
#include "open.h"

#define STR(literal) \
  { (literal), sizeof(literal) - 1 }

struct davit_instance {
  const davit_host* host;
  const davit_log* log;
  char* next_name;
  davit_ref next; /* the cluster behind this one */
  open_work open;
};

static const davit_cluster* next_table(const davit_instance* self) {
  return self->next.vtable;
}

static int is(davit_str s, const char* text) {
  return s.len == strlen(text) && memcmp(s.ptr, text, s.len) == 0;
}

static davit_str str(const char* text) {
  const davit_str s = {text, strlen(text)};
  return s;
}

/* --- requests --- */

/* One request, until its answer. */
typedef struct call {
  davit_instance* self;
  davit_cluster_done done;
  void* ctx;
  char* texts;            /* NULL: it is no write */
  davit_str verb, object; /* in the texts: "apply", "configmaps apps/web" */
} call;

/* Keeps what the log says of a write: the request is gone when the answer comes. 0: no memory. */
static int keep_texts(call* made, const davit_cluster_request* q) {
  const davit_str parts[] = {q->verb, q->resource.resource, STR(" "), q->ns, STR("/"), q->name};
  const size_t count = sizeof parts / sizeof parts[0];
  size_t length = 0;
  for (size_t i = 0; i < count; ++i) length += parts[i].len;
  made->texts = malloc(length);
  if (made->texts == NULL) return 0;
  char* to = made->texts;
  for (size_t i = 0; i < count; ++i) {
    if (parts[i].len > 0) memcpy(to, parts[i].ptr, parts[i].len);
    to += parts[i].len;
  }
  const davit_str verb = {made->texts, q->verb.len};
  const davit_str object = {made->texts + verb.len, length - verb.len};
  made->verb = verb;
  made->object = object;
  return 1;
}

static void log_write(const call* of, const davit_cluster_response* r) {
  const davit_instance* self = of->self;
  if (self->log->enabled(self->host, DAVIT_LOG_INFO) == 0) return;
  char status[16];
  snprintf(status, sizeof status, "%" PRId32, r->http_status);
  const davit_str message = STR("a write");
  const davit_pair fields[] = {
      {STR("verb"), of->verb}, {STR("object"), of->object}, {STR("http_status"), str(status)}};
  self->log->write(self->host, DAVIT_LOG_INFO, message, fields, sizeof fields / sizeof fields[0]);
}

/* The next cluster's answer. Its caller has heard it before the call counts as ended. */
static void answered(void* ctx, const davit_cluster_response* r) {
  call* of = ctx;
  if (of->texts != NULL) log_write(of, r);
  of->done(of->ctx, r);
  open_end(&of->self->open);
  free(of->texts);
  free(of);
}

static void answer_no_memory(davit_cluster_done done, void* ctx) {
  const davit_cluster_response r = {
      .struct_size = sizeof r, .code = DAVIT_RESOURCE_EXHAUSTED, .message = STR("no memory")};
  done(ctx, &r);
}

/* A call that counts. `q` is the write that is logged, or NULL. NULL: no memory, and the caller has
 * heard it. */
static call* begin(davit_instance* self, const davit_cluster_request* q, davit_cluster_done done,
                   void* ctx) {
  call* made = calloc(1, sizeof *made);
  if (made == NULL || (q != NULL && !keep_texts(made, q))) {
    free(made);
    answer_no_memory(done, ctx);
    return NULL;
  }
  made->self = self;
  made->done = done;
  made->ctx = ctx;
  open_begin(&self->open);
  return made;
}

/* The op lives until the caller has its answer, so the next cluster may have it, too. */
static void request(davit_instance* self, const davit_op* op, const davit_cluster_request* q,
                    davit_cluster_done done, void* ctx) {
  call* made = begin(self, is(q->verb, DAVIT_VERB_GET) ? NULL : q, done, ctx);
  if (made != NULL) next_table(self)->request(self->next.self, op, q, &answered, made);
}

static void discover(davit_instance* self, const davit_op* op, davit_str group, davit_str version,
                     davit_str kind, davit_cluster_done done, void* ctx) {
  call* made = begin(self, NULL, done, ctx);
  if (made != NULL)
    next_table(self)->discover(self->next.self, op, group, version, kind, &answered, made);
}

static void identity(davit_instance* self, const davit_op* op, davit_cluster_done done, void* ctx) {
  call* made = begin(self, NULL, done, ctx);
  if (made != NULL) next_table(self)->identity(self->next.self, op, &answered, made);
}

/* --- watches --- */

static void event(void* ctx, int32_t type, davit_bytes object) {
  const open_watch* of = ctx;
  of->watcher.event(of->ctx, type, object);
}

static void ended(void* ctx) {
  open_watch* of = ctx;
  open_remove(&of->self->open, of);
  of->watcher.ended(of->ctx);
  open_end(&of->self->open);
  free(of);
}

static const davit_cluster_watcher passes_on = {
    .struct_size = sizeof(davit_cluster_watcher), .event = &event, .ended = &ended};

static int32_t watch(davit_instance* self, const davit_cluster_watch_request* q, uint32_t credit,
                     const davit_cluster_watcher* watcher, void* ctx, davit_cluster_watch** out,
                     davit_error* error) {
  if ((q->flags & DAVIT_FLAGS_CRITICAL) != 0)
    return fail(error, DAVIT_UNIMPLEMENTED, "davit_cluster_watch_request",
                "its flags have a bit that is not known here: install a newer version");
  open_watch* made = calloc(1, sizeof *made);
  if (made == NULL) return fail(error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
  made->self = self;
  made->watcher.event = watcher->event;
  made->watcher.ended = watcher->ended;
  made->ctx = ctx;
  const uintptr_t number = open_add(&self->open, made);
  davit_cluster_watch* inner = NULL;
  const int32_t code =
      next_table(self)->watch(self->next.self, q, credit, &passes_on, made, &inner, error);
  if (code != DAVIT_OK) { /* the watcher is not called */
    open_remove(&self->open, made);
    open_end(&self->open);
    free(made);
    return code;
  }
  open_begun(&self->open, number, inner);
  *out = (davit_cluster_watch*)number;
  return DAVIT_OK;
}

static void credit(davit_instance* self, davit_cluster_watch* handle, uint32_t more) {
  davit_cluster_watch* inner = open_find(&self->open, (uintptr_t)handle, 0);
  if (inner != NULL) next_table(self)->credit(self->next.self, inner, more);
}

static void cancel(davit_instance* self, davit_cluster_watch* handle) {
  davit_cluster_watch* inner = open_find(&self->open, (uintptr_t)handle, 1);
  if (inner != NULL) next_table(self)->cancel(self->next.self, inner);
}

static const davit_cluster cluster_table = {.struct_size = sizeof(davit_cluster),
                                            .request = &request,
                                            .watch = &watch,
                                            .credit = &credit,
                                            .cancel = &cancel,
                                            .discover = &discover,
                                            .identity = &identity};

/* --- the plugin's steps --- */

/* Reading a key declares it: the host refuses one that nobody reads. NULL: no memory. */
static char* read_next(const davit_host* host) {
  const davit_str id = STR(DAVIT_CONFIG), key = STR("next");
  const davit_config* config = host->query(host, id);
  const davit_config_node* node = config->get(config->root(host), key);
  davit_str next = STR("");
  if (config->type(node) == DAVIT_CONFIG_STRING) {
    next = config->string(node);
  } else if (node != NULL) {
    const davit_str message = STR("must be a string");
    config->reject(host, node, message);
  } else {
    const davit_str message = STR("key \"next\": is missing (a string)");
    config->reject(host, config->root(host), message);
  }
  char* copy = calloc(1, next.len + 1);
  if (copy != NULL && next.len > 0) memcpy(copy, next.ptr, next.len);
  return copy;
}

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  const davit_str log = STR(DAVIT_LOG);
  davit_instance* self = calloc(1, sizeof *self);
  if (self != NULL) self->next_name = read_next(host);
  if (self == NULL || self->next_name == NULL || open_init(&self->open) != 0) {
    if (self != NULL) free(self->next_name);
    free(self);
    return fail(error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
  }
  self->host = host;
  self->log = host->query(host, log);
  *out = self;
  return DAVIT_OK;
}

/* The instance that is found here starts before this one and stops after it. */
static int32_t wire(davit_instance* self, davit_error* error) {
  const davit_str lookup_id = STR(DAVIT_LOOKUP), cluster_id = STR(DAVIT_CLUSTER);
  const davit_lookup* lookup = self->host->query(self->host, lookup_id);
  return lookup->find(self->host, str(self->next_name), cluster_id, &self->next, error);
}

/* Its callers hear the end of all that they have begun. */
static int32_t stop(davit_instance* self, const davit_op* op, davit_error* error) {
  davit_cluster_watch* inner = NULL;
  while ((inner = open_take(&self->open)) != NULL) next_table(self)->cancel(self->next.self, inner);
  const davit_str id = STR(DAVIT_CLOCK);
  const davit_clock* clock = self->host->query(self->host, id);
  const int for_ever = op->deadline_ns == INT64_MAX;
  const size_t left = open_wait(
      &self->open, for_ever ? INT64_MAX : op->deadline_ns - clock->monotonic_ns(self->host));
  if (left == 0) return DAVIT_OK;
  char message[64];
  snprintf(message, sizeof message, "%zu calls have not ended", left);
  return fail(error, DAVIT_DEADLINE_EXCEEDED, "", message);
}

static void destroy(davit_instance* self) {
  open_destroy(&self->open);
  free(self->next_name);
  free(self);
}

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  return is(id, DAVIT_CLUSTER) ? &cluster_table : NULL;
}

static const davit_plugin plugin = {.struct_size = sizeof(davit_plugin),
                                    .abi_minor = DAVIT_ABI_MINOR,
                                    .name = STR("@name@"),
                                    .version = STR(DAVIT_PLUGIN_VERSION),
                                    .summary = STR("logs the writes to another cluster"),
                                    .create = &create,
                                    .wire = &wire,
                                    .stop = &stop,
                                    .destroy = &destroy,
                                    .query = &query};

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  (void)host_abi_minor, (void)error;
  return &plugin;
}
