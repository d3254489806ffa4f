#include "watches.h"

#include <stdlib.h>

struct davit_storage_watch {
  davit_storage_watch *before, *next;
  davit_storage_hint hint;
  void* ctx;
};

void begin_watches(watches* all) {
  pthread_mutex_init(&all->lock, NULL);
  all->first = NULL;
}

void end_watches(watches* all) {
  while (all->first != NULL) remove_watch(all, all->first);
  pthread_mutex_destroy(&all->lock);
}

davit_storage_watch* add_watch(watches* all, davit_storage_hint hint, void* ctx) {
  davit_storage_watch* made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->hint = hint;
  made->ctx = ctx;
  pthread_mutex_lock(&all->lock);
  made->next = all->first;
  if (made->next != NULL) made->next->before = made;
  all->first = made;
  pthread_mutex_unlock(&all->lock);
  return made;
}

void remove_watch(watches* all, davit_storage_watch* watch) {
  pthread_mutex_lock(&all->lock);
  if (watch->before != NULL)
    watch->before->next = watch->next;
  else
    all->first = watch->next;
  if (watch->next != NULL) watch->next->before = watch->before;
  pthread_mutex_unlock(&all->lock);
  free(watch);
}

/* With the lock held: so remove_watch waits for the hint that runs. */
void tell_watches(watches* all, uint32_t what) {
  pthread_mutex_lock(&all->lock);
  for (davit_storage_watch* at = all->first; at != NULL; at = at->next) at->hint(at->ctx, what);
  pthread_mutex_unlock(&all->lock);
}
