/* What the store holds, in memory: rows in the indexes by which they are found, the counters, and
 * the chain of incarnations. change.h changes it; the slots that read only look. */
#pragma once
#include "rows.h"

/* A part of the store's history (S10). */
typedef struct incarnation {
  uint64_t number, version, status_version; /* where it ended; not used of the one that goes on */
} incarnation;

/* The oldest incarnations are forgotten above so many, so that the chain fits into a message. */
enum { CHAIN_MAX = 1000 };

typedef struct state {
  tree records, statuses; /* by their keys */
  tree record_versions, status_versions;
  tree names;    /* of records: by kind, region, name, namespace and id, in this order */
  tree agents;   /* by region and name */
  tree requests; /* by their ids */
  uint64_t head, status_head, purged_through;
  incarnation chain[CHAIN_MAX]; /* the oldest first */
  size_t chain_count;
} state;

void begin_state(state* s);
void free_state(state* s);

/* --- the indexes --- */

/* The row takes the place of the earlier one with its key. That one, or NULL, is the caller's. */
row* put_row(state* s, row* made);
/* The row is the caller's then. */
void take_row(state* s, row* from);

int is_live(const davit_record* record);
int compare_keys(const davit_key* a, const davit_key* b); /* as compare_texts */
row* find_record(const state* s, const davit_key* key);
row* find_status(const state* s, const davit_key* key);
row* find_agent(const state* s, davit_str region, davit_str agent);
row* find_request(const state* s, davit_str id);
/* Those above. NULL: there is none. */
row* next_record(const state* s, uint64_t version);
row* next_status(const state* s, uint64_t version);
row* next_agent(const state* s, davit_str region, davit_str agent);
row* next_request(const state* s, davit_str id);
/* The records that are found by a name: hidden ones are not. `after` is the one before; NULL: the
 * first is asked for. `in_any`: the namespace does not count. */
row* next_named(const state* s, const davit_record* like, const row* after, int in_any);

/* --- the history --- */

/* One that begins now. Its versions follow those of the last one. */
void begin_incarnation(state* s, uint64_t number);
uint64_t current_incarnation(const state* s);
/* Whether the position is in the store's history: among records, or among statuses. */
int knows(const state* s, davit_cursor at, int of_statuses);
