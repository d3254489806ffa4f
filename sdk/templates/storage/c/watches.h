/* The watches of a store: who wants to hear that something may have become readable (S9). */
#pragma once
#include <davit/abi.h>
#include <pthread.h>

typedef struct watches {
  pthread_mutex_t lock;
  davit_storage_watch* first;
} watches;

void begin_watches(watches* all);
void end_watches(watches* all);
/* NULL: there is no memory. */
davit_storage_watch* add_watch(watches* all, davit_storage_hint hint, void* ctx);
/* Waits for a hint of this watch that runs. */
void remove_watch(watches* all, davit_storage_watch* watch);
/* Calls every hint. `what` is made of DAVIT_HINT_... */
void tell_watches(watches* all, uint32_t what);
