/* A change sink and a status sink behind a gate. It accepts every change that comes once the gate
 * is open, says DAVIT_WAIT before, and settles each change as done, on a strand. It counts
 * statuses.
 *
 *   gate = "door"     the gate that it waits at */
#include <pthread.h>
#include <stdlib.h>

#include "plugin.h"

struct davit_instance {
  const davit_host* host;
  const davit_exec* exec;
  davit_str gate_name;
  davit_ref gate;
  davit_strand* strand;
  pthread_mutex_t lock;
  uint64_t epoch; /* under lock; 0: the gate is closed */
  uint64_t changes, statuses;
};

struct davit_change_stream {
  davit_instance* sink;
  const davit_change_source* source;
  void* self;
};

/* What the strand has to say to a source: a version is settled, or the stream is closed. */
typedef struct word {
  davit_change_stream* stream;
  uint64_t version; /* 0: closed */
} word;

static void speak(void* arg) {
  word* w = arg;
  davit_change_stream* stream = w->stream;
  if (w->version != 0) {
    stream->source->settled(stream->self, w->version, DAVIT_OUTCOME_DONE);
  } else {
    stream->source->closed(stream->self);
    free(stream);
  }
  free(w);
}

static void later(davit_change_stream* stream, uint64_t version) {
  word* w = malloc(sizeof *w);
  w->stream = stream;
  w->version = version;
  stream->sink->exec->post(stream->sink->strand, speak, w);
}

/* --- role change sink --- */

static int32_t open_stream(davit_instance* self, davit_str kind, davit_str region,
                           const davit_change_source* source, void* ctx, davit_change_stream** out,
                           davit_error* error) {
  if (kind.len == 0 || region.len == 0)
    return fail(error, DAVIT_INVALID_ARGUMENT, "kind", "a stream is of a kind and a region");
  *out = calloc(1, sizeof **out);
  (*out)->sink = self;
  (*out)->source = source;
  (*out)->self = ctx;
  return DAVIT_OK;
}

static int32_t begin(davit_instance* self, davit_change_stream* stream, const davit_begin* what,
                     davit_error* error) {
  (void)stream;
  if (!KNOWN_FLAGS(what->flags, DAVIT_BEGIN_SNAPSHOT))
    return fail(error, DAVIT_UNIMPLEMENTED, "davit_begin", "has a flag that is not known");
  say(self->host, "a stream begins", "history", what->history_count);
  return DAVIT_OK;
}

static int32_t offer_change(davit_instance* self, davit_change_stream* stream,
                            const davit_change* change) {
  int open;
  pthread_mutex_lock(&self->lock);
  open = self->epoch != 0;
  if (open) ++self->changes;
  pthread_mutex_unlock(&self->lock);
  if (!open) return DAVIT_WAIT;
  later(stream, change->version);
  return DAVIT_OK;
}

static int32_t bookmark(davit_instance* self, davit_change_stream* stream,
                        const davit_bookmark* mark, davit_error* error) {
  (void)stream;
  if (!KNOWN_FLAGS(mark->flags, DAVIT_BOOKMARK_SNAPSHOT_END | DAVIT_BOOKMARK_COUNTED))
    return fail(error, DAVIT_UNIMPLEMENTED, "davit_bookmark", "has a flag that is not known");
  say(self->host, "a bookmark comes", "live", mark->live_count);
  return DAVIT_OK;
}

static void close_stream(davit_instance* self, davit_change_stream* stream) {
  (void)self;
  later(stream, 0);
}

static const davit_change_sink change_sink = {
    sizeof(davit_change_sink), 0, open_stream, begin, offer_change, bookmark, close_stream};

/* --- role status sink --- */

static int32_t offer_status(davit_instance* self, const davit_status* status, davit_error* error) {
  if (!KNOWN_FLAGS(status->flags, DAVIT_STATUS_GONE))
    return fail(error, DAVIT_UNIMPLEMENTED, "davit_status", "has a flag that is not known");
  pthread_mutex_lock(&self->lock);
  ++self->statuses;
  pthread_mutex_unlock(&self->lock);
  return DAVIT_OK;
}

static void advance(davit_instance* self, davit_str region, const davit_kind_progress* progress) {
  (void)region;
  say(self->host, "the cursor moves", "version", progress->applied.version);
}

static void issue(davit_instance* self, davit_str region, const davit_issue* what) {
  (void)region;
  say(self->host, what->condition.len != 0 ? "an issue begins" : "an issue ends", "version",
      what->version);
}

static const davit_status_sink status_sink = {sizeof(davit_status_sink), 0, offer_status, advance,
                                              issue};

/* --- the steps of the instance's life --- */

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  davit_instance* self = calloc(1, sizeof *self);
  (void)error;
  self->host = host;
  self->exec = host->query(host, str(DAVIT_EXEC));
  self->gate_name = setting(host, "gate");
  pthread_mutex_init(&self->lock, NULL);
  *out = self;
  return DAVIT_OK;
}

static int32_t wire(davit_instance* self, davit_error* error) {
  return look_up(self->host, self->gate_name, DAVIT_GATE, &self->gate, error);
}

static void on_open(void* ctx, uint64_t epoch) {
  davit_instance* self = ctx;
  pthread_mutex_lock(&self->lock);
  self->epoch = epoch;
  pthread_mutex_unlock(&self->lock);
  say(self->host, epoch != 0 ? "the gate opens" : "the gate stays closed", "waiters", 1);
}

static int32_t start(davit_instance* self, const davit_op* op, davit_error* error) {
  (void)op;
  (void)error;
  self->strand = self->exec->strand(self->host);
  ((const davit_gate*)self->gate.vtable)->wait(self->gate.self, on_open, self);
  return DAVIT_OK;
}

static int32_t stop(davit_instance* self, const davit_op* op, davit_error* error) {
  (void)op;
  (void)error;
  say(self->host, "changes in all", "count", self->changes);
  say(self->host, "statuses in all", "count", self->statuses);
  return DAVIT_OK;
}

static void destroy(davit_instance* self) {
  if (self->strand != NULL) self->exec->strand_release(self->strand);
  pthread_mutex_destroy(&self->lock);
  free(self);
}

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  if (equal(id, str(DAVIT_CHANGE_SINK))) return &change_sink;
  return equal(id, str(DAVIT_STATUS_SINK)) ? &status_sink : NULL;
}

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  static davit_plugin plugin;
  (void)host_abi_minor;
  (void)error;
  describe_plugin(&plugin, "takes every change and every status");
  plugin.create = create;
  plugin.wire = wire;
  plugin.start = start;
  plugin.stop = stop;
  plugin.destroy = destroy;
  plugin.query = query;
  return &plugin;
}
