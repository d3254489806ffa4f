#define _POSIX_C_SOURCE 200809L
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fault.h"

enum { NS_PER_MS = 1000000, NS_PER_S = 1000000000 };

static davit_str str(const char* text) {
  const davit_str s = {text, text == NULL ? 0 : strlen(text)};
  return s;
}

static void answer(davit_actuator_done done, void* ctx, const struct outcome* out) {
  const davit_actuator_result result = {.struct_size = sizeof result,
                                        .error = out->error.code == DAVIT_OK ? NULL : &out->error,
                                        .requeue_after_ms = out->requeue_after_ms,
                                        .status_patch = str(out->status_patch),
                                        .progress = str(out->progress)};
  done(ctx, &result);
}

/* --- waiting --- */

/* The mutex is locked. Waits for so long at most; may return early. */
static void wait_ns(struct calls* self, int64_t ns) {
  const int64_t hour = INT64_C(3600) * NS_PER_S; /* who waits longer asks again */
  if (ns > hour) ns = hour;
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  const int64_t part = until.tv_nsec + ns % NS_PER_S;
  until.tv_sec += (time_t)(ns / NS_PER_S + part / NS_PER_S);
  until.tv_nsec = (long)(part % NS_PER_S);
  pthread_cond_timedwait(&self->woken, &self->mutex, &until);
}

static int64_t now(const struct calls* self) {
  return self->clock->monotonic_ns(self->host);
}

/* Why a call is given up; DAVIT_OK: it is not. */
static int32_t over(struct calls* self, const davit_op* op, davit_error* error) {
  if (op->cancelled(op)) return fail(error, DAVIT_CANCELLED, "", "the caller has given up");
  if (op->deadline_ns <= now(self))
    return fail(error, DAVIT_DEADLINE_EXCEEDED, "", "the deadline has passed");
  pthread_mutex_lock(&self->mutex);
  const int stopped = self->stopped;
  pthread_mutex_unlock(&self->mutex);
  if (stopped) return fail(error, DAVIT_UNAVAILABLE, "", "the server is shutting down");
  return DAVIT_OK;
}

static void wake(void* ctx) {
  struct calls* self = ctx;
  pthread_mutex_lock(&self->mutex);
  pthread_cond_broadcast(&self->woken);
  pthread_mutex_unlock(&self->mutex);
}

int32_t call_pause(const struct call* call, int64_t milliseconds, davit_error* error) {
  struct calls* self = call->of;
  const davit_op* op = call->op;
  davit_op_watch* watch = op->on_cancel(op, &wake, self);
  int64_t at = now(self), end = at + milliseconds * NS_PER_MS;
  if (end > op->deadline_ns) end = op->deadline_ns;
  pthread_mutex_lock(&self->mutex);
  while (!self->stopped && !op->cancelled(op) && at < end) {
    wait_ns(self, end - at);
    at = now(self);
  }
  pthread_mutex_unlock(&self->mutex);
  op->off_cancel(op, watch);
  return over(self, op, error);
}

/* --- a call's life --- */

static void begin(struct calls* self) {
  pthread_mutex_lock(&self->mutex);
  ++self->open;
  pthread_mutex_unlock(&self->mutex);
}

static void end(struct calls* self) {
  pthread_mutex_lock(&self->mutex);
  --self->open;
  pthread_cond_broadcast(&self->woken);
  pthread_mutex_unlock(&self->mutex);
}

/* On a thread of the pool. */
static void run(void* arg) {
  struct call* made = arg;
  struct calls* self = made->of;
  struct outcome out = {.requeue_after_ms = 0};
  if (over(self, made->op, &out.error) == DAVIT_OK) out = made->work(made->instance, made);
  answer(made->done, made->ctx, &out);
  free(out.status_patch);
  free(made);
  end(self);
}

static davit_str copy(char** at, davit_str text) {
  const davit_str out = {*at, text.len};
  if (text.len > 0) memcpy(*at, text.ptr, text.len);
  (*at)[text.len] = '\0';
  *at += text.len + 1;
  return out;
}

/* The call and its texts lie in one piece of memory. NULL: there is none. */
static struct call* call_of(const davit_actuator_call* asked) {
  const size_t texts =
      asked->ns.len + asked->name.len + asked->uid.len + asked->cluster.len + 4; /* zeros */
  struct call* made = calloc(1, sizeof *made + texts);
  if (made == NULL) return NULL;
  char* at = (char*)(made + 1);
  made->ns = copy(&at, asked->ns);
  made->name = copy(&at, asked->name);
  made->uid = copy(&at, asked->uid);
  made->cluster = copy(&at, asked->cluster);
  made->event = asked->event;
  made->self = asked->self;
  return made;
}

/* A flag that must not be ignored, and is not known here. */
static int32_t understood(const davit_actuator_call* asked, davit_error* error) {
  if ((asked->flags & DAVIT_FLAGS_CRITICAL) == 0) return DAVIT_OK;
  return fail(error, DAVIT_UNIMPLEMENTED, "davit_actuator_call",
              "flags has a bit that is not known here: install a newer version");
}

void calls_serve(struct calls* self, davit_instance* instance, const davit_op* op,
                 const davit_actuator_call* asked, davit_actuator_done done, void* ctx,
                 call_work work) {
  const davit_str own_pool = {"", 0};
  struct outcome refused = {.requeue_after_ms = 0};
  begin(self);
  struct call* made = NULL;
  if (understood(asked, &refused.error) == DAVIT_OK && over(self, op, &refused.error) == DAVIT_OK) {
    made = call_of(asked);
    if (made == NULL) fail(&refused.error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
  }
  if (made == NULL) {
    answer(done, ctx, &refused);
    end(self);
    return;
  }
  made->of = self;
  made->instance = instance;
  made->op = op;
  made->done = done;
  made->ctx = ctx;
  made->work = work;
  self->exec->blocking(self->host, own_pool, &run, made);
}

void call_tell(const struct call* call, const char* reason, const char* message) {
  if (call->event == NULL) return; /* nobody wants any */
  const davit_actuator_event event = {
      .struct_size = sizeof event, .reason = str(reason), .message = str(message)};
  call->event(call->self, &event);
}

/* --- the instance's life --- */

int calls_init(struct calls* self, const davit_host* host) {
  const davit_str exec = {DAVIT_EXEC, strlen(DAVIT_EXEC)};
  const davit_str clock = {DAVIT_CLOCK, strlen(DAVIT_CLOCK)};
  self->host = host;
  self->exec = host->query(host, exec);
  self->clock = host->query(host, clock);
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0) return 0;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  const int failed = pthread_cond_init(&self->woken, &attributes);
  pthread_condattr_destroy(&attributes);
  if (failed) return 0;
  if (pthread_mutex_init(&self->mutex, NULL) == 0) return 1;
  pthread_cond_destroy(&self->woken);
  return 0;
}

void calls_destroy(struct calls* self) {
  pthread_mutex_destroy(&self->mutex);
  pthread_cond_destroy(&self->woken);
}

int32_t calls_stop(struct calls* self, const davit_op* op, davit_error* error) {
  pthread_mutex_lock(&self->mutex);
  self->stopped = 1;
  pthread_cond_broadcast(&self->woken);
  int64_t at = now(self);
  while (self->open > 0 && at < op->deadline_ns) {
    wait_ns(self, op->deadline_ns - at);
    at = now(self);
  }
  const size_t left = self->open;
  pthread_mutex_unlock(&self->mutex);
  if (left == 0) return DAVIT_OK;
  char message[64];
  snprintf(message, sizeof message, "%zu calls have not ended", left);
  return fail(error, DAVIT_DEADLINE_EXCEEDED, "", message);
}
