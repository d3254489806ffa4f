#include "state.h"

#include <stdlib.h>
#include <string.h>

/* --- the orders --- */

static int compare_numbers(uint64_t a, uint64_t b) {
  return a < b ? -1 : a > b;
}

int compare_keys(const davit_key* a, const davit_key* b) {
  int order = compare_texts(a->kind, b->kind);
  if (order == 0) order = compare_texts(a->region, b->region);
  return order != 0 ? order : compare_texts(a->id, b->id);
}

static int by_record_key(const void* a, const void* b) {
  return compare_keys(&((const row*)a)->of.record.key, &((const row*)b)->of.record.key);
}
static int by_record_version(const void* a, const void* b) {
  return compare_numbers(((const row*)a)->of.record.version, ((const row*)b)->of.record.version);
}
static int by_status_key(const void* a, const void* b) {
  return compare_keys(&((const row*)a)->of.status.key, &((const row*)b)->of.status.key);
}
static int by_status_version(const void* a, const void* b) {
  return compare_numbers(((const row*)a)->of.status.status_version,
                         ((const row*)b)->of.status.status_version);
}
static int by_agent(const void* a, const void* b) {
  const davit_progress *one = &((const row*)a)->of.agent, *other = &((const row*)b)->of.agent;
  const int order = compare_texts(one->region, other->region);
  return order != 0 ? order : compare_texts(one->agent, other->agent);
}
static int by_request_id(const void* a, const void* b) {
  return compare_texts(((const row*)a)->of.request.id, ((const row*)b)->of.request.id);
}

static int by_name(const void* a, const void* b) {
  const davit_record *one = &((const row*)a)->of.record, *other = &((const row*)b)->of.record;
  int order = compare_texts(one->key.kind, other->key.kind);
  if (order == 0) order = compare_texts(one->key.region, other->key.region);
  if (order == 0) order = compare_texts(one->name, other->name);
  if (order == 0) order = compare_texts(one->ns, other->ns);
  return order != 0 ? order : compare_texts(one->key.id, other->key.id);
}

/* --- the indexes --- */

void begin_state(state* s) {
  memset(s, 0, sizeof *s);
  s->records.compare = by_record_key;
  s->record_versions.compare = by_record_version;
  s->names.compare = by_name;
  s->statuses.compare = by_status_key;
  s->status_versions.compare = by_status_version;
  s->agents.compare = by_agent;
  s->requests.compare = by_request_id;
}

static void free_rows(tree* of) {
  while (of->root != NULL) {
    row* first = of->root->item;
    tree_remove(of, of->root);
    free(first);
  }
}

void free_state(state* s) {
  free_rows(&s->records);
  free_rows(&s->statuses);
  free_rows(&s->agents);
  free_rows(&s->requests);
  begin_state(s);
}

static tree* index_by_key(state* s, row_type type) {
  switch (type) {
    case ROW_RECORD:
      return &s->records;
    case ROW_STATUS:
      return &s->statuses;
    case ROW_AGENT:
      return &s->agents;
    case ROW_REQUEST:
      break;
  }
  return &s->requests;
}

/* A record may have been deleted before the store knew its name. */
static int has_name(const row* r) {
  return !r->hidden && r->of.record.name.len != 0;
}

row* put_row(state* s, row* made) {
  tree* keys = index_by_key(s, made->type);
  row* before = tree_find(keys, made);
  if (before != NULL) take_row(s, before);
  tree_insert(keys, &made->by_key, made);
  if (made->type == ROW_RECORD) {
    tree_insert(&s->record_versions, &made->by_version, made);
    if (has_name(made)) tree_insert(&s->names, &made->by_name, made);
    if (made->of.record.version > s->head) s->head = made->of.record.version;
  } else if (made->type == ROW_STATUS) {
    const uint64_t version = made->of.status.status_version;
    tree_insert(&s->status_versions, &made->by_version, made);
    if (version > s->status_head) s->status_head = version;
  }
  return before;
}

void take_row(state* s, row* from) {
  tree_remove(index_by_key(s, from->type), &from->by_key);
  if (from->type == ROW_RECORD) {
    tree_remove(&s->record_versions, &from->by_version);
    if (has_name(from)) tree_remove(&s->names, &from->by_name);
  } else if (from->type == ROW_STATUS) {
    tree_remove(&s->status_versions, &from->by_version);
  }
}

int is_live(const davit_record* record) {
  return (record->flags & DAVIT_RECORD_LIVE) != 0;
}

row* find_record(const state* s, const davit_key* key) {
  row like;
  like.of.record.key = *key;
  return tree_find(&s->records, &like);
}

row* find_status(const state* s, const davit_key* key) {
  row like;
  like.of.status.key = *key;
  return tree_find(&s->statuses, &like);
}

row* find_agent(const state* s, davit_str region, davit_str agent) {
  row like;
  like.of.agent.region = region;
  like.of.agent.agent = agent;
  return tree_find(&s->agents, &like);
}

row* find_request(const state* s, davit_str id) {
  row like;
  like.of.request.id = id;
  return tree_find(&s->requests, &like);
}

row* next_record(const state* s, uint64_t version) {
  row like;
  like.of.record.version = version;
  return tree_above(&s->record_versions, &like);
}

row* next_status(const state* s, uint64_t version) {
  row like;
  like.of.status.status_version = version;
  return tree_above(&s->status_versions, &like);
}

row* next_agent(const state* s, davit_str region, davit_str agent) {
  row like;
  like.of.agent.region = region;
  like.of.agent.agent = agent;
  return tree_above(&s->agents, &like);
}

row* next_request(const state* s, davit_str id) {
  row like;
  like.of.request.id = id;
  return tree_above(&s->requests, &like);
}

row* next_named(const state* s, const davit_record* like, const row* after, int in_any) {
  row first;
  first.of.record = *like;
  first.of.record.key.id = text(""); /* before every id */
  if (in_any) first.of.record.ns = text("");
  row* next = tree_above(&s->names, after != NULL ? after : &first);
  if (next == NULL) return NULL;
  const davit_record* found = &next->of.record;
  const int matches = same_text(found->key.kind, like->key.kind) &&
                      same_text(found->key.region, like->key.region) &&
                      same_text(found->name, like->name) &&
                      (in_any || same_text(found->ns, like->ns));
  return matches ? next : NULL;
}

/* --- the history --- */

void begin_incarnation(state* s, uint64_t number) {
  if (s->chain_count > 0) {
    incarnation* last = &s->chain[s->chain_count - 1];
    last->version = s->head;
    last->status_version = s->status_head;
  }
  if (s->chain_count == CHAIN_MAX) {
    --s->chain_count;
    memmove(s->chain, s->chain + 1, s->chain_count * sizeof *s->chain);
  }
  incarnation* made = &s->chain[s->chain_count++];
  memset(made, 0, sizeof *made);
  made->number = number;
}

uint64_t current_incarnation(const state* s) {
  return s->chain_count == 0 ? 0 : s->chain[s->chain_count - 1].number;
}

int knows(const state* s, davit_cursor at, int of_statuses) {
  for (size_t i = s->chain_count; i-- > 0;) {
    const incarnation* link = &s->chain[i];
    if (link->number != at.incarnation) continue;
    const uint64_t head = of_statuses ? s->status_head : s->head;
    const uint64_t ended = of_statuses ? link->status_version : link->version;
    return at.version <= (i + 1 == s->chain_count ? head : ended);
  }
  return 0;
}
