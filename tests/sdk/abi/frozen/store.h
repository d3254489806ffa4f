/* The memory of frozen_storage.c, and what its slots have in common. */
#ifndef FROZEN_STORE_H
#define FROZEN_STORE_H

#include <pthread.h>
#include <stdlib.h>

#include "plugin.h"

enum { ROWS_MAX = 64 };

/* What is kept is never given back before the instance ends. */
typedef struct chunk {
  struct chunk* next;
} chunk;

struct davit_instance {
  const davit_host* host;
  pthread_mutex_t lock;
  chunk* chunks;
  uint64_t incarnation, head, status_head, purged_through;
  /* In ascending order of their versions: what changes moves to the end. */
  davit_record* records[ROWS_MAX];
  size_t records_count;
  davit_status* statuses[ROWS_MAX];
  size_t statuses_count;
  davit_progress* agents[ROWS_MAX];
  size_t agents_count;
};

/* --- memory --- */

static void* room(davit_instance* self, size_t bytes) {
  chunk* made = calloc(1, sizeof *made + bytes);
  made->next = self->chunks;
  self->chunks = made;
  return made + 1;
}

static davit_str kept(davit_instance* self, davit_str text) {
  char* copy = room(self, text.len + 1);
  davit_str out;
  if (text.len != 0) memcpy(copy, text.ptr, text.len);
  out.ptr = copy;
  out.len = text.len;
  return out;
}

static davit_key kept_key(davit_instance* self, davit_key key) {
  davit_key out;
  out.kind = kept(self, key.kind);
  out.region = kept(self, key.region);
  out.id = kept(self, key.id);
  return out;
}

static davit_record* kept_record(davit_instance* self, const davit_record* from) {
  davit_record* out = room(self, sizeof *out);
  davit_pair* annotations = room(self, (from->annotations_count + 1) * sizeof *annotations);
  davit_str payload;
  size_t i;
  memcpy(out, from, sizeof *out);
  out->struct_size = sizeof *out;
  out->key = kept_key(self, from->key);
  out->ns = kept(self, from->ns);
  out->name = kept(self, from->name);
  out->state = kept(self, from->state);
  payload.ptr = (const char*)from->payload.ptr;
  payload.len = from->payload.len;
  out->payload.ptr = (const uint8_t*)kept(self, payload).ptr;
  out->json = kept(self, from->json);
  out->author = kept(self, from->author);
  out->request_id = kept(self, from->request_id);
  for (i = 0; i < from->annotations_count; ++i) {
    annotations[i].key = kept(self, from->annotations[i].key);
    annotations[i].value = kept(self, from->annotations[i].value);
  }
  out->annotations = annotations;
  return out;
}

/* Without its children. */
static davit_status* kept_status(davit_instance* self, const davit_status* from) {
  davit_status* out = room(self, sizeof *out);
  memcpy(out, from, sizeof *out);
  out->struct_size = sizeof *out;
  out->key = kept_key(self, from->key);
  out->health = kept(self, from->health);
  out->message = kept(self, from->message);
  out->parked = kept(self, from->parked);
  out->detail = kept(self, from->detail);
  out->ns = kept(self, from->ns);
  out->name = kept(self, from->name);
  out->children = NULL;
  out->children_count = 0;
  return out;
}

/* With the kinds and without the issues. */
static davit_progress* kept_progress(davit_instance* self, const davit_progress* from) {
  davit_progress* out = room(self, sizeof *out);
  const davit_kind_progress** kinds = room(self, (from->kinds_count + 1) * sizeof *kinds);
  size_t i;
  memcpy(out, from, sizeof *out);
  out->struct_size = sizeof *out;
  out->region = kept(self, from->region);
  out->agent = kept(self, from->agent);
  out->software = kept(self, from->software);
  for (i = 0; i < from->kinds_count; ++i) {
    davit_kind_progress* kind = room(self, sizeof *kind);
    kind->struct_size = sizeof *kind;
    kind->kind = kept(self, from->kinds[i]->kind);
    kind->applied = from->kinds[i]->applied;
    kinds[i] = kind;
  }
  out->kinds = kinds;
  out->issues = NULL;
  out->issues_count = 0;
  return out;
}

/* --- what is common to the slots --- */

static int compare(davit_str a, davit_str b) {
  const size_t shorter = a.len < b.len ? a.len : b.len;
  const int found = shorter == 0 ? 0 : memcmp(a.ptr, b.ptr, shorter);
  if (found != 0) return found;
  return a.len < b.len ? -1 : a.len > b.len;
}

static int same_key(davit_key a, davit_key b) {
  return equal(a.kind, b.kind) && equal(a.region, b.region) && equal(a.id, b.id);
}

static int in_scope(const davit_scope* scope, davit_key key) {
  return (scope->kind.len == 0 || equal(scope->kind, key.kind)) &&
         (scope->region.len == 0 || equal(scope->region, key.region));
}

static int is_live(const davit_record* record) {
  return (record->flags & DAVIT_RECORD_LIVE) != 0;
}

static size_t find_record(const davit_instance* self, davit_key key) {
  size_t i = 0;
  while (i < self->records_count && !same_key(self->records[i]->key, key)) ++i;
  return i;
}

static size_t find_status(const davit_instance* self, davit_key key) {
  size_t i = 0;
  while (i < self->statuses_count && !same_key(self->statuses[i]->key, key)) ++i;
  return i;
}

static void take_out(void** rows, size_t* count, size_t at) {
  --*count;
  memmove(rows + at, rows + at + 1, (*count - at) * sizeof *rows);
}

static void fill_head(const davit_instance* self, davit_head* out) {
  if (out == NULL) return;
  out->head.incarnation = self->incarnation;
  out->head.version = self->head;
  out->status_head = self->status_head;
  out->purged_through = self->purged_through;
}

static int32_t lock(davit_instance* self, const davit_op* op, davit_error* error) {
  if (op->cancelled(op)) return fail(error, DAVIT_CANCELLED, "", "the caller has given up");
  pthread_mutex_lock(&self->lock);
  return DAVIT_OK;
}

static int32_t unlock(davit_instance* self) {
  pthread_mutex_unlock(&self->lock);
  return DAVIT_OK;
}

static int32_t unknown_flag(davit_error* error, const char* of) {
  return fail(error, DAVIT_UNIMPLEMENTED, of,
              "has a critical flag that this storage does not know");
}

static int32_t judge_cursor(const davit_instance* self, davit_cursor cursor, uint64_t head,
                            davit_error* error) {
  if (cursor.version == 0 || (cursor.incarnation == self->incarnation && cursor.version <= head))
    return DAVIT_OK;
  return fail(error, DAVIT_OUT_OF_RANGE, "cursor", "is of another history");
}

#endif
