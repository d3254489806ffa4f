/* A plugin in plain C99 against <davit/abi.h> alone. It is a status sink that stands between the
 * applier and another status sink. It counts the statuses that it is offered, logs the count, and
 * passes everything on.
 *
 * It uses configuration, look-up, log, metrics, timers and health. It needs no C++, and no library
 * but libc and pthreads. Read it from the bottom: the entry, then the plugin's steps, then the
 * slots of its role. */
#include <davit/abi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STR(literal) \
  { (literal), sizeof(literal) - 1 }

static davit_str str(const char* text) {
  davit_str s = {text, strlen(text)};
  return s;
}

/* --- state --- */

enum { HEALTHS = 6 };
static const char* const healths[HEALTHS] = {"unknown",   "progressing", "healthy",
                                             "unhealthy", "paused",      "other"};

/* What the instance and its timer's task share. A cancelled task may run after the instance is
 * destroyed. So `owner` is NULL from stop on, and the last one to release the beat frees it. */
typedef struct beat {
  pthread_mutex_t lock;
  davit_instance* owner;
  int references;
} beat;

struct davit_instance {
  const davit_host* host;
  const davit_log* log;
  const davit_exec* exec;
  const davit_metrics* metrics;
  char* next_name;
  int64_t interval_ns; /* 0 = no summary */
  davit_ref next;
  davit_strand* strand;
  beat* beat;
  uint64_t timer;
  davit_metric* offered[HEALTHS];
  davit_metric* issues;
  pthread_mutex_t lock;
  uint64_t count, told; /* under lock: the statuses offered, and the number last logged */
};

static void beat_release(beat* b) {
  pthread_mutex_lock(&b->lock);
  const int left = --b->references;
  pthread_mutex_unlock(&b->lock);
  if (left == 0) {
    pthread_mutex_destroy(&b->lock);
    free(b);
  }
}

static int32_t fail(davit_error* error, int32_t code, const char* message) {
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

/* --- the summary: one line an interval, when there were statuses --- */

static void summarize(davit_instance* self) {
  char total[24], fresh[24];
  pthread_mutex_lock(&self->lock);
  const uint64_t count = self->count, told = self->told;
  self->told = count;
  pthread_mutex_unlock(&self->lock);
  if (count == told) return;
  snprintf(total, sizeof total, "%llu", (unsigned long long)count);
  snprintf(fresh, sizeof fresh, "%llu", (unsigned long long)(count - told));
  const davit_pair fields[] = {{STR("total"), str(total)}, {STR("since_last"), str(fresh)}};
  self->log->write(self->host, DAVIT_LOG_INFO, str("statuses passed on"), fields, 2);
}

static void on_timer(void* arg, int32_t fired) {
  beat* b = arg;
  int again = 0;
  pthread_mutex_lock(&b->lock);
  if (fired != 0 && b->owner != NULL) {
    davit_instance* self = b->owner;
    summarize(self);
    self->timer = self->exec->timer(self->strand, self->interval_ns, on_timer, b);
    again = 1;
  }
  pthread_mutex_unlock(&b->lock);
  if (!again) beat_release(b);
}

/* --- role status sink: called on any thread, must not block --- */

static const davit_status_sink* next_sink(const davit_instance* self) {
  return self->next.vtable;
}

static size_t health_index(davit_str health) {
  size_t i = 0;
  while (i < HEALTHS - 1 &&
         (strlen(healths[i]) != health.len || memcmp(healths[i], health.ptr, health.len) != 0))
    ++i;
  return i;
}

/* The sink behind judges the flags: this one reads none of them. */
static int32_t offer(davit_instance* self, const davit_status* status, davit_error* error) {
  self->metrics->add(self->offered[health_index(status->health)], 1);
  pthread_mutex_lock(&self->lock);
  ++self->count;
  pthread_mutex_unlock(&self->lock);
  if (self->log->enabled(self->host, DAVIT_LOG_DEBUG) != 0) {
    const davit_pair fields[] = {{STR("kind"), status->key.kind},
                                 {STR("id"), status->key.id},
                                 {STR("health"), status->health}};
    self->log->write(self->host, DAVIT_LOG_DEBUG, str("status"), fields, 3);
  }
  return next_sink(self)->offer(self->next.self, status, error);
}

static void advance(davit_instance* self, davit_str region, const davit_kind_progress* progress) {
  next_sink(self)->advance(self->next.self, region, progress);
}

static void issue(davit_instance* self, davit_str region, const davit_issue* what) {
  if (what->condition.len != 0) self->metrics->add(self->issues, 1); /* empty: the issue ends */
  next_sink(self)->issue(self->next.self, region, what);
}

static const davit_status_sink sink = {sizeof(davit_status_sink), 0, offer, advance, issue};

/* --- the steps of an instance's life --- */

/* Reading a key declares it. `reject` notes a fault, and the host reports all faults after create.
 */
static void configure(davit_instance* self) {
  const davit_config* config = self->host->query(self->host, str(DAVIT_CONFIG));
  const davit_config_node* root = config->root(self->host);
  const davit_config_node* next = config->get(root, str("next"));
  const davit_config_node* interval = config->get(root, str("summary_interval_ms"));
  int64_t milliseconds = 60000;
  if (next == NULL) {
    config->reject(self->host, root,
                   str("key \"next\": is missing (the instance that statuses are passed on to)"));
  } else if (config->type(next) != DAVIT_CONFIG_STRING) {
    config->reject(self->host, next, str("must be a string"));
  } else {
    const davit_str name = config->string(next);
    self->next_name = calloc(name.len + 1, 1);
    if (self->next_name != NULL) memcpy(self->next_name, name.ptr, name.len);
  }
  if (interval != NULL) {
    if (config->type(interval) != DAVIT_CONFIG_INTEGER) {
      config->reject(self->host, interval, str("must be an integer"));
    } else {
      const int64_t given = config->integer(interval);
      if (given < 0 || given > 86400000) {
        config->reject(self->host, interval, str("must be between 0 and 86400000"));
      } else {
        milliseconds = given;
      }
    }
  }
  self->interval_ns = milliseconds * 1000000;
}

static void make_metrics(davit_instance* self) {
  self->metrics = self->host->query(self->host, str(DAVIT_METRICS));
  for (size_t i = 0; i < HEALTHS; ++i) {
    const davit_pair label = {STR("health"), str(healths[i])};
    self->offered[i] =
        self->metrics->metric(self->host, DAVIT_COUNTER, str("davit_status_tee_offered_total"),
                              str("Statuses that were offered and passed on"), &label, 1);
  }
  self->issues =
      self->metrics->metric(self->host, DAVIT_COUNTER, str("davit_status_tee_issues_total"),
                            str("Issues that began"), NULL, 0);
}

static void destroy(davit_instance* self) {
  if (self->strand != NULL) self->exec->strand_release(self->strand);
  pthread_mutex_destroy(&self->lock);
  free(self->next_name);
  free(self);
}

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  davit_instance* self = calloc(1, sizeof *self);
  if (self == NULL) return fail(error, DAVIT_RESOURCE_EXHAUSTED, "out of memory");
  self->host = host;
  pthread_mutex_init(&self->lock, NULL);
  self->log = host->query(host, str(DAVIT_LOG));
  self->exec = host->query(host, str(DAVIT_EXEC));
  configure(self);
  make_metrics(self);
  *out = self;
  return DAVIT_OK;
}

/* The instance that is found here starts before this one and stops after it. */
static int32_t wire(davit_instance* self, davit_error* error) {
  if (self->next_name == NULL) return fail(error, DAVIT_RESOURCE_EXHAUSTED, "out of memory");
  const davit_lookup* lookup = self->host->query(self->host, str(DAVIT_LOOKUP));
  return lookup->find(self->host, str(self->next_name), str(DAVIT_STATUS_SINK), &self->next, error);
}

static int32_t start(davit_instance* self, const davit_op* op, davit_error* error) {
  (void)op;
  if (self->interval_ns != 0) {
    self->beat = calloc(1, sizeof *self->beat);
    if (self->beat == NULL) return fail(error, DAVIT_RESOURCE_EXHAUSTED, "out of memory");
    pthread_mutex_init(&self->beat->lock, NULL);
    self->beat->owner = self;
    self->beat->references = 2; /* the instance's and the timer's */
    self->strand = self->exec->strand(self->host);
    pthread_mutex_lock(&self->beat->lock); /* on_timer writes self->timer, too */
    self->timer = self->exec->timer(self->strand, self->interval_ns, on_timer, self->beat);
    pthread_mutex_unlock(&self->beat->lock);
  }
  const davit_health* health = self->host->query(self->host, str(DAVIT_HEALTH));
  if (health != NULL) health->set(self->host, DAVIT_HEALTH_SERVING, str(""));
  return DAVIT_OK;
}

static int32_t stop(davit_instance* self, const davit_op* op, davit_error* error) {
  (void)op;
  (void)error;
  beat* b = self->beat;
  if (b != NULL) {
    pthread_mutex_lock(&b->lock);
    b->owner = NULL; /* a task that runs from here on only releases the beat */
    const uint64_t timer = self->timer;
    pthread_mutex_unlock(&b->lock);
    self->exec->timer_cancel(self->strand, timer);
    self->beat = NULL;
    beat_release(b);
  }
  summarize(self);
  return DAVIT_OK;
}

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  const int same =
      id.len == sizeof(DAVIT_STATUS_SINK) - 1 && memcmp(id.ptr, DAVIT_STATUS_SINK, id.len) == 0;
  return same ? &sink : NULL;
}

/* --- the entry --- */

static const davit_plugin plugin = {sizeof(davit_plugin),
                                    DAVIT_ABI_MINOR,
                                    0,
                                    STR("status_tee"),
                                    STR(DAVIT_PLUGIN_VERSION),
                                    STR("counts statuses and passes them on"),
                                    1, /* call at once: stop */
                                    0,
                                    0,
                                    0,
                                    create,
                                    wire,
                                    NULL,
                                    start,
                                    stop,
                                    destroy,
                                    query};

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  (void)host_abi_minor;
  (void)error;
  return &plugin;
}
