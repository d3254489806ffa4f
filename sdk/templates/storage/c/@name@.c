/* A storage in C99 that keeps everything in memory and every change in one append-only file. It
 * keeps each rule of <davit/abi/storage.h>, and needs no library.
 *
 * This file is the instance: its settings, its start and its stop. Read on in store.h, writes.c and
 * reads.c, the slots of the role; change.h and state.h, what is in memory; log.h, the file.
 *
 * What a larger one would add: the file only grows, so rewrite it at times. All of it is in memory.
 * One lock serves all calls, also while the disk is synchronised. One process can use it. */
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "store.h"

#define STR(literal) \
  { (literal), sizeof(literal) - 1 }

/* --- what the slots have in common --- */

int32_t still_wanted(const davit_instance* self, const davit_op* op, davit_error* error) {
  if (op->cancelled(op)) return fail(error, DAVIT_CANCELLED, text(""), "the caller has given up");
  if (op->deadline_ns > self->clock->monotonic_ns(self->host)) return DAVIT_OK;
  return fail(error, DAVIT_DEADLINE_EXCEEDED, text(""), "the deadline has passed");
}

int32_t lock_store(davit_instance* self, const davit_op* op, davit_error* error) {
  pthread_mutex_lock(&self->lock);
  const int32_t code = still_wanted(self, op, error);
  if (code != DAVIT_OK) pthread_mutex_unlock(&self->lock);
  return code;
}

void unlock_store(davit_instance* self) {
  pthread_mutex_unlock(&self->lock);
}

int64_t unix_ms(const davit_instance* self) {
  return self->clock->unix_ns(self->host) / 1000000;
}

int32_t judge_flags(uint32_t flags, uint32_t known, const char* of, davit_error* error) {
  if ((flags & DAVIT_FLAGS_CRITICAL & ~known) == 0) return DAVIT_OK;
  char message[128] = "this storage does not know a critical flag of ";
  strncat(message, of, sizeof message - strlen(message) - 1);
  return fail(error, DAVIT_UNIMPLEMENTED, text(of), message);
}

/* --- the role --- */

static int32_t watch(davit_instance* self, davit_storage_hint hint, void* ctx,
                     davit_storage_watch** out, davit_error* error) {
  *out = add_watch(&self->watches, hint, ctx);
  return *out == NULL ? no_memory(error) : DAVIT_OK;
}

static void unwatch(davit_instance* self, davit_storage_watch* ended) {
  remove_watch(&self->watches, ended);
}

static const davit_storage storage_table = {.struct_size = sizeof(davit_storage),
                                            .limits = &read_limits,
                                            .head = &read_head,
                                            .read = &read_records,
                                            .get = &get_records,
                                            .commit = &commit,
                                            .report = &report,
                                            .statuses = &read_statuses,
                                            .progress = &keep_progress,
                                            .agents = &read_agents,
                                            .maintain = &maintain,
                                            .watch = &watch,
                                            .unwatch = &unwatch,
                                            .history = &read_history};

/* --- the plugin's steps --- */

/* Reading a key declares it: the host refuses one that nobody reads. Absent: "". */
static char* read_path(const davit_host* host) {
  const davit_config* config = host->query(host, text(DAVIT_CONFIG));
  const davit_config_node* root = config->root(host);
  const davit_config_node* node = config->get(root, text("path"));
  davit_str path = text("");
  if (node == NULL)
    config->reject(host, root, text("needs `path`: the file that keeps the records"));
  else if (config->type(node) != DAVIT_CONFIG_STRING || config->string(node).len == 0)
    config->reject(host, node, text("must be a string that names a file"));
  else
    path = config->string(node);
  char* copy = calloc(1, path.len + 1);
  if (copy != NULL && path.len > 0) memcpy(copy, path.ptr, path.len);
  return copy;
}

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  davit_instance* self = calloc(1, sizeof *self);
  if (self != NULL) self->path = read_path(host);
  if (self == NULL || self->path == NULL) {
    free(self);
    return no_memory(error);
  }
  self->host = host;
  self->clock = host->query(host, text(DAVIT_CLOCK));
  self->log.file = -1;
  pthread_mutex_init(&self->lock, NULL);
  begin_watches(&self->watches);
  begin_state(&self->state);
  *out = self;
  return DAVIT_OK;
}

static int32_t replay(void* ctx, davit_str batch, davit_error* error) {
  davit_instance* self = ctx;
  change c = begin_change(&self->state);
  const int32_t code = apply_entries(&c, batch, error);
  keep_change(&c);
  return code;
}

static int32_t start(davit_instance* self, const davit_op* op, davit_error* error) {
  (void)op;
  pthread_mutex_lock(&self->lock);
  int32_t code = log_open(&self->log, self->path, &replay, self, error);
  if (code == DAVIT_OK) code = write_incarnation(self, error);
  if (code != DAVIT_OK) log_close(&self->log);
  pthread_mutex_unlock(&self->lock);
  return code;
}

static int32_t stop(davit_instance* self, const davit_op* op, davit_error* error) {
  (void)op, (void)error;
  pthread_mutex_lock(&self->lock);
  log_close(&self->log);
  pthread_mutex_unlock(&self->lock);
  return DAVIT_OK;
}

static void destroy(davit_instance* self) {
  log_close(&self->log);
  free_state(&self->state);
  end_watches(&self->watches);
  pthread_mutex_destroy(&self->lock);
  free(self->path);
  free(self);
}

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  return same_text(id, text(DAVIT_STORAGE)) ? &storage_table : NULL;
}

static const davit_plugin plugin = {
    .struct_size = sizeof(davit_plugin),
    .abi_minor = DAVIT_ABI_MINOR,
    .name = STR("@name@"),
    .version = STR(DAVIT_PLUGIN_VERSION),
    .summary = STR("keeps records in memory and in an append-only file"),
    .max_concurrency = 4,
    .create = &create,
    .start = &start,
    .stop = &stop,
    .destroy = &destroy,
    .query = &query};

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  (void)host_abi_minor, (void)error;
  return &plugin;
}
