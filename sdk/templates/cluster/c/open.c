#define _POSIX_C_SOURCE 200809L
#include "open.h"

#include <time.h>

enum { NANOSECONDS = 1000000000 };

int open_init(open_work* work) {
  pthread_condattr_t monotonic;
  if (pthread_condattr_init(&monotonic) != 0) return -1;
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  const int made = pthread_cond_init(&work->none_left, &monotonic);
  pthread_condattr_destroy(&monotonic);
  if (made != 0) return -1;
  if (pthread_mutex_init(&work->mutex, NULL) == 0) return 0;
  pthread_cond_destroy(&work->none_left);
  return -1;
}

void open_destroy(open_work* work) {
  pthread_cond_destroy(&work->none_left);
  pthread_mutex_destroy(&work->mutex);
}

void open_begin(open_work* work) {
  pthread_mutex_lock(&work->mutex);
  ++work->count;
  pthread_mutex_unlock(&work->mutex);
}

/* Under the mutex: the instance may be destroyed as soon as the waiter has it. */
void open_end(open_work* work) {
  pthread_mutex_lock(&work->mutex);
  if (--work->count == 0) pthread_cond_broadcast(&work->none_left);
  pthread_mutex_unlock(&work->mutex);
}

uintptr_t open_add(open_work* work, open_watch* watch) {
  pthread_mutex_lock(&work->mutex);
  ++work->count;
  const uintptr_t number = ++work->last;
  watch->number = number;
  watch->next = work->watches;
  work->watches = watch;
  pthread_mutex_unlock(&work->mutex);
  return number;
}

void open_remove(open_work* work, open_watch* watch) {
  pthread_mutex_lock(&work->mutex);
  open_watch** at = &work->watches;
  while (*at != NULL && *at != watch) at = &(*at)->next;
  if (*at != NULL) *at = watch->next;
  pthread_mutex_unlock(&work->mutex);
}

/* Under the mutex. */
static open_watch* numbered(const open_work* work, uintptr_t number) {
  open_watch* at = work->watches;
  while (at != NULL && at->number != number) at = at->next;
  return at;
}

void open_begun(open_work* work, uintptr_t number, davit_cluster_watch* inner) {
  pthread_mutex_lock(&work->mutex);
  open_watch* watch = numbered(work, number);
  if (watch != NULL) watch->inner = inner; /* else it has ended already */
  pthread_mutex_unlock(&work->mutex);
}

davit_cluster_watch* open_find(open_work* work, uintptr_t number, int cancel) {
  davit_cluster_watch* inner = NULL;
  pthread_mutex_lock(&work->mutex);
  open_watch* watch = numbered(work, number);
  if (watch != NULL && !watch->cancelled) {
    inner = watch->inner;
    watch->cancelled = cancel;
  }
  pthread_mutex_unlock(&work->mutex);
  return inner;
}

davit_cluster_watch* open_take(open_work* work) {
  davit_cluster_watch* inner = NULL;
  pthread_mutex_lock(&work->mutex);
  open_watch* at = work->watches;
  while (at != NULL && (at->cancelled || at->inner == NULL)) at = at->next;
  if (at != NULL) {
    inner = at->inner;
    at->cancelled = 1;
  }
  pthread_mutex_unlock(&work->mutex);
  return inner;
}

static struct timespec in_the_future(int64_t nanoseconds) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  if (nanoseconds <= 0) return at;
  at.tv_sec += (time_t)(nanoseconds / NANOSECONDS);
  at.tv_nsec += (long)(nanoseconds % NANOSECONDS);
  if (at.tv_nsec >= NANOSECONDS) {
    at.tv_nsec -= NANOSECONDS;
    ++at.tv_sec;
  }
  return at;
}

size_t open_wait(open_work* work, int64_t nanoseconds) {
  const int for_ever = nanoseconds == INT64_MAX;
  const struct timespec end = in_the_future(for_ever ? 0 : nanoseconds);
  int failed = 0;
  pthread_mutex_lock(&work->mutex);
  while (work->count > 0 && failed == 0)
    failed = for_ever ? pthread_cond_wait(&work->none_left, &work->mutex)
                      : pthread_cond_timedwait(&work->none_left, &work->mutex, &end);
  const size_t left = work->count;
  pthread_mutex_unlock(&work->mutex);
  return left;
}
