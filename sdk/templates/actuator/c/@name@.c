/* An actuator in C99, whose clusters are folders with files. It shows what an actuator of a real
 * provider does: it looks at what is there at each call and does what is missing, in steps between
 * which it may be killed; it knows by the uid what is whose; and it gives a call up when its caller
 * does.
 *
 * <davit/abi/actuator.h> has the shapes and the rules. Read this file from the bottom: the entry,
 * the plugin's steps, the slots of its role. */
#include <davit/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "disk.h"
#include "fault.h"
#include "wanted.h"

#define STR(literal) \
  { (literal), sizeof(literal) - 1 }

/* A call that waits holds a thread, so this many slow clusters hold the others up. */
enum { THREADS = 8, THREADS_MIN = 2, THREADS_MAX = 64, FOLDER_MAX = 255, NAMES_MAX = 512 };

struct davit_instance {
  const davit_host* host;
  char* directory;
  struct calls calls;
};

/* --- the work --- */

/* What is done for one call. */
struct job {
  const struct call* call;
  const davit_host* host;
  const davit_clock* clock;
  int disk;                   /* open */
  char folder[NAMES_MAX + 1]; /* "_" is in no name of Kubernetes */
};

/* Whether a name is one that the API server gives. Another one would be one for other files. */
static int is_name(davit_str text) {
  return is_file_name(text) && memchr(text.ptr, '_', text.len) == NULL;
}

static int32_t name_folder(const struct call* call, char* out, davit_error* error) {
  if (!is_name(call->ns)) return wrong(error, "metadata.namespace", "is no name");
  if (!is_name(call->name) || call->ns.len + 1 + call->name.len > FOLDER_MAX)
    return wrong(error, "metadata.name", "is no name for a folder");
  if (!is_name(call->uid)) return wrong(error, "metadata.uid", "is no uid");
  snprintf(out, NAMES_MAX + 1, "%s_%s", call->ns.ptr, call->name.ptr);
  return DAVIT_OK;
}

static void tell_folder(const struct job* job, const char* reason, const char* what) {
  char message[NAMES_MAX + 64];
  snprintf(message, sizeof message, "the folder %s was %s", job->folder, what);
  call_tell(job->call, reason, message);
}

/* Writes the files that are not as they are wanted, one after the other. */
static int32_t put_files(const struct job* job, const struct wanted* wanted, size_t* changes,
                         davit_error* error) {
  const char* file = NULL;
  json_t* value = NULL;
  json_object_foreach(wanted->files, file, value) {
    const davit_str content = {json_string_value(value), json_string_length(value)};
    int same = 0;
    int32_t code = disk_has(job->disk, job->folder, file, content, &same, error);
    if (code == DAVIT_OK && same) continue;
    if (code == DAVIT_OK) code = call_pause(job->call, wanted->step_ms, error);
    if (code == DAVIT_OK) code = disk_put(job->disk, job->folder, file, content, error);
    if (code != DAVIT_OK) return code;
    ++*changes;
  }
  return DAVIT_OK;
}

static int32_t drop_files(const struct job* job, const struct wanted* wanted, size_t* changes,
                          davit_error* error) {
  struct names there = {NULL, 0};
  int32_t code = disk_files(job->disk, job->folder, &there, error);
  for (size_t i = 0; i < there.count && code == DAVIT_OK; ++i) {
    if (json_object_get(wanted->files, there.all[i]) != NULL) continue;
    code = disk_drop(job->disk, job->folder, there.all[i], error);
    ++*changes;
  }
  names_free(&there);
  return code;
}

/* The files become those that are wanted. */
static int32_t fill(const struct job* job, const struct wanted* wanted, davit_error* error) {
  size_t changes = 0;
  int32_t code = disk_clean(job->disk, job->folder, error);
  if (code == DAVIT_OK) code = put_files(job, wanted, &changes, error);
  if (code == DAVIT_OK) code = drop_files(job, wanted, &changes, error);
  if (code != DAVIT_OK || changes == 0) return code;
  char message[64];
  snprintf(message, sizeof message, "%zu files were written or removed", changes);
  call_tell(job->call, "FilesChanged", message);
  return DAVIT_OK;
}

/* The folder becomes this cluster's, or is another's. */
static int32_t own(const struct job* job, davit_error* error) {
  const davit_str uid = job->call->uid;
  enum owner owner = OWNER_NONE;
  int32_t code = disk_sweep(job->disk, uid.ptr, error);
  if (code == DAVIT_OK) code = disk_owner(job->disk, job->folder, uid, &owner, error);
  if (code != DAVIT_OK || owner == OWNER_SELF) return code;
  if (owner == OWNER_OTHER) {
    char message[NAMES_MAX + 64];
    snprintf(message, sizeof message, "%s: is of another cluster", job->folder);
    return fail(error, DAVIT_ALREADY_EXISTS, "metadata.name", message);
  }
  code = disk_claim(job->disk, job->folder, uid, error);
  if (code == DAVIT_OK) tell_folder(job, "FolderCreated", "made");
  return code;
}

static int32_t tell_status(const struct job* job, const struct wanted* wanted,
                           struct outcome* out) {
  char host[2 * NAMES_MAX];
  snprintf(host, sizeof host, "%s.%s.example.com", job->call->name.ptr, job->call->ns.ptr);
  json_t* status = json_pack("{s:[{s:s, s:i}], s:{s:s, s:I}}", "apiEndpoints", "host", host, "port",
                             6443, "providerStatus", "folder", job->folder, "files",
                             (json_int_t)json_object_size(wanted->files));
  out->status_patch = json_dumps(status, JSON_COMPACT);
  json_decref(status);
  if (out->status_patch != NULL) return DAVIT_OK;
  return fail(&out->error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
}

/* Each step finds out what is there. So it does not matter which one a crash came after. */
static void build_wanted(const struct job* job, const struct wanted* wanted, struct outcome* out) {
  int64_t made_at = 0;
  if (own(job, &out->error) != DAVIT_OK) return;
  if (fill(job, wanted, &out->error) != DAVIT_OK) return;
  if (disk_made_at_ms(job->disk, job->folder, &made_at, &out->error) != DAVIT_OK) return;
  int64_t age = job->clock->unix_ns(job->host) / 1000000 - made_at;
  if (age < 0) age = 0;
  if (age >= wanted->boot_ms) {
    tell_status(job, wanted, out);
    return;
  }
  out->requeue_after_ms = wanted->boot_ms - age;
  out->progress = "the cluster boots";
}

static void build(const struct job* job, struct outcome* out) {
  struct wanted wanted;
  if (wanted_of(job->call->cluster, &wanted, &out->error) != DAVIT_OK) return;
  build_wanted(job, &wanted, out);
  json_decref(wanted.cluster);
}

/* It does not ask what the cluster wanted. A folder of another uid is no part of this cluster, and
 * one that does not say whose it is is an error. */
static void clear(const struct job* job, struct outcome* out) {
  const davit_str uid = job->call->uid;
  enum owner owner = OWNER_NONE;
  davit_error* error = &out->error;
  if (disk_sweep(job->disk, uid.ptr, error) != DAVIT_OK) return;
  if (disk_owner(job->disk, job->folder, uid, &owner, error) != DAVIT_OK) return;
  if (owner != OWNER_SELF) return;
  if (disk_retire(job->disk, job->folder, uid.ptr, error) != DAVIT_OK) return;
  if (disk_sweep(job->disk, uid.ptr, error) != DAVIT_OK) return;
  tell_folder(job, "FolderRemoved", "removed");
}

/* On a thread of the pool. */
static struct outcome work(davit_instance* self, const struct call* call,
                           void (*what)(const struct job*, struct outcome*)) {
  struct outcome out = {.requeue_after_ms = 0};
  struct job job = {.call = call, .host = self->host, .clock = self->calls.clock, .disk = -1};
  if (name_folder(call, job.folder, &out.error) != DAVIT_OK) return out;
  if (disk_open(self->directory, &job.disk, &out.error) != DAVIT_OK) return out;
  what(&job, &out);
  close(job.disk);
  return out;
}

static struct outcome work_build(davit_instance* self, const struct call* call) {
  return work(self, call, &build);
}

static struct outcome work_clear(davit_instance* self, const struct call* call) {
  return work(self, call, &clear);
}

/* --- the slots of the role --- */

static void reconcile(davit_instance* self, const davit_op* op, const davit_actuator_call* asked,
                      davit_actuator_done done, void* ctx) {
  calls_serve(&self->calls, self, op, asked, done, ctx, &work_build);
}

static void remove_cluster(davit_instance* self, const davit_op* op,
                           const davit_actuator_call* asked, davit_actuator_done done, void* ctx) {
  calls_serve(&self->calls, self, op, asked, done, ctx, &work_clear);
}

static const davit_actuator actuator_table = {
    .struct_size = sizeof(davit_actuator), .reconcile = &reconcile, .remove = &remove_cluster};

/* --- the settings --- */

struct settings {
  const davit_host* host;
  const davit_config* config;
};

static void reject(const struct settings* in, const davit_config_node* node, const char* message) {
  const davit_str text = {message, strlen(message)};
  in->config->reject(in->host, node != NULL ? node : in->config->root(in->host), text);
}

/* Reading a key declares it: the host refuses one that nobody reads. NULL: it is absent, or of a
 * wrong type. */
static const davit_config_node* setting(const struct settings* in, const char* key, int32_t type,
                                        const char* fault) {
  const davit_str name = {key, strlen(key)};
  const davit_config_node* node = in->config->get(in->config->root(in->host), name);
  if (node == NULL || in->config->type(node) == type) return node;
  reject(in, node, fault);
  return NULL;
}

/* What is wrong with the settings, the host reports after create. NULL: there is no memory. */
static char* read_directory(const davit_host* host) {
  const davit_str id = STR(DAVIT_CONFIG), key = STR("directory");
  const struct settings in = {host, host->query(host, id)};
  const davit_config* config = in.config;
  const davit_config_node* node =
      setting(&in, "directory", DAVIT_CONFIG_STRING, "must be a string");
  const davit_config_node* make =
      setting(&in, "create", DAVIT_CONFIG_BOOLEAN, "must be true or false");
  davit_str path = STR("");
  if (node != NULL)
    path = config->string(node);
  else if (config->get(config->root(host), key) == NULL)
    reject(&in, NULL, "key \"directory\": is missing (a string)");
  char* copy = calloc(1, path.len + 1);
  if (copy == NULL || node == NULL) return copy;
  if (path.len > 0) memcpy(copy, path.ptr, path.len);
  davit_error error = {.code = DAVIT_OK};
  if (strlen(copy) != path.len)
    reject(&in, node, "has a NUL character");
  else if (make != NULL && config->boolean(make) && disk_make(copy, &error) != DAVIT_OK)
    reject(&in, node, error.message);
  return copy;
}

/* --- the plugin's steps --- */

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  davit_instance* self = calloc(1, sizeof *self);
  if (self != NULL) self->directory = read_directory(host);
  if (self == NULL || self->directory == NULL || !calls_init(&self->calls, host)) {
    if (self != NULL) free(self->directory);
    free(self);
    return fail(error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
  }
  self->host = host;
  *out = self;
  return DAVIT_OK;
}

static int32_t stop(davit_instance* self, const davit_op* op, davit_error* error) {
  return calls_stop(&self->calls, op, error);
}

static void destroy(davit_instance* self) {
  calls_destroy(&self->calls);
  free(self->directory);
  free(self);
}

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  const davit_str role = STR(DAVIT_ACTUATOR);
  return id.len == role.len && memcmp(id.ptr, role.ptr, id.len) == 0 ? &actuator_table : NULL;
}

static const davit_plugin plugin = {.struct_size = sizeof(davit_plugin),
                                    .abi_minor = DAVIT_ABI_MINOR,
                                    .name = STR("@name@"),
                                    .version = STR(DAVIT_PLUGIN_VERSION),
                                    .summary = STR("clusters are folders with files"),
                                    .max_concurrency = THREADS,
                                    .pool_threads_min = THREADS_MIN,
                                    .pool_threads_max = THREADS_MAX,
                                    .create = &create,
                                    .stop = &stop,
                                    .destroy = &destroy,
                                    .query = &query};

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  (void)host_abi_minor, (void)error;
  return &plugin;
}
