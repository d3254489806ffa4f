/* A change of the store: entries for the log, and what they do to the rows in memory. Every call
 * that writes makes one. An entry takes effect in memory at once, and the log is written once, at
 * the end. If the log refuses it, or a group of it fails, what was done in memory is taken back.
 *
 * An entry is a letter, a length and its bytes. One function applies entries, when a change is made
 * and again when the log is read. */
#pragma once
#include "state.h"

typedef struct replacement {
  row *before, *after; /* either may be NULL */
} replacement;

typedef struct change {
  state* of;
  buffer entries;
  replacement* rows;
  size_t rows_count, rows_room;
  uint64_t head, status_head, purged_through; /* before the change */
} change;

/* A moment in a change, to which it can be taken back. */
typedef struct moment {
  size_t entries_size, rows_count;
  uint64_t head;
} moment;

change begin_change(state* of);
/* One of the two ends a change. */
void keep_change(change* c);      /* the rows that were replaced are freed */
void take_change_back(change* c); /* all but a new incarnation: a start that fails begins nothing */

moment now_in(const change* c);
/* Of the counters only the records' is taken back. */
void take_back_to(change* c, moment when);

/* Each writes an entry and applies it. What is not OK changes nothing; the error says why. */
int32_t change_record(change* c, const davit_record* record, int hidden, davit_error* error);
int32_t change_status(change* c, const davit_status* status, davit_error* error);
int32_t change_agent(change* c, const davit_progress* progress, davit_error* error);
int32_t change_request(change* c, const request* from, davit_error* error);
int32_t change_incarnation(change* c, uint64_t number, davit_error* error);
int32_t forget_agent(change* c, davit_str region, davit_str agent, davit_error* error);
int32_t purge(change* c, uint64_t through, davit_error* error);

/* Applies entries of the log. What is not OK may have applied some. */
int32_t apply_entries(change* c, davit_str entries, davit_error* error);
