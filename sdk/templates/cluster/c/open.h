/* What the instance has begun and its callers have not heard the end of: requests, and watches.
 * `stop` waits for it. Any thread may call these functions. None calls another plugin while it
 * holds the mutex. */
#pragma once
#include <davit/abi.h>
#include <pthread.h>

/* A watch of a caller's. A number stands for it, so that a cancel that comes too late finds
 * nothing. */
typedef struct open_watch {
  struct open_watch* next;
  uintptr_t number;
  int cancelled;
  davit_cluster_watch* inner; /* that of the next cluster; NULL: it has not begun yet */
  davit_instance* self;
  davit_cluster_watcher watcher; /* the caller's, and its argument */
  void* ctx;
} open_watch;

typedef struct open_work {
  pthread_mutex_t mutex;
  pthread_cond_t none_left; /* on the monotonic clock */
  size_t count;             /* requests and watches */
  uintptr_t last;           /* number of a watch */
  open_watch* watches;
} open_work;

/* 0, or the system has no more of these. */
int open_init(open_work* work);
void open_destroy(open_work* work);

/* A request begins. Its caller has heard its end. */
void open_begin(open_work* work);
void open_end(open_work* work);

/* A watch begins: it gets its number, and counts. */
uintptr_t open_add(open_work* work, open_watch* watch);
/* It is forgotten, and still counts. */
void open_remove(open_work* work, open_watch* watch);
/* The next cluster has begun the watch with this number. */
void open_begun(open_work* work, uintptr_t number, davit_cluster_watch* inner);
/* The next cluster's watch that has this number; NULL: it has ended, or ends. `cancel` is 1 when
 * the caller of this function cancels it now. */
davit_cluster_watch* open_find(open_work* work, uintptr_t number, int cancel);
/* The next cluster's watch of the first one that nobody has cancelled; its caller does so now.
 * NULL: there is none left. */
davit_cluster_watch* open_take(open_work* work);

/* Waits until nothing is open, at most for this time; INT64_MAX: for ever. Returns how much is
 * left. */
size_t open_wait(open_work* work, int64_t nanoseconds);
