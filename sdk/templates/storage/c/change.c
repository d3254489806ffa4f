#include "change.h"

#include <stdlib.h>
#include <string.h>

/* The letters of entries that are no rows. They stand in the log. Do not change them. */
enum { ENTRY_INCARNATION = 'I', ENTRY_FORGET = 'F', ENTRY_PURGE = 'P' };

/* --- the rows that a change replaces --- */

static int32_t make_place(change* c, davit_error* error) {
  if (c->rows_count < c->rows_room) return DAVIT_OK;
  const size_t room = c->rows_room == 0 ? 16 : 2 * c->rows_room;
  replacement* rows = realloc(c->rows, room * sizeof *rows);
  if (rows == NULL) return no_memory(error);
  c->rows = rows;
  c->rows_room = room;
  return DAVIT_OK;
}

static int32_t replace(change* c, row* made, davit_error* error) {
  if (make_place(c, error) != DAVIT_OK) {
    free(made);
    return error->code;
  }
  const replacement done = {put_row(c->of, made), made};
  c->rows[c->rows_count++] = done;
  return DAVIT_OK;
}

static int32_t remove_row(change* c, row* from, davit_error* error) {
  if (make_place(c, error) != DAVIT_OK) return error->code;
  const replacement done = {from, NULL};
  take_row(c->of, from);
  c->rows[c->rows_count++] = done;
  return DAVIT_OK;
}

static void take_rows_back(change* c, size_t to) {
  while (c->rows_count > to) {
    const replacement* last = &c->rows[--c->rows_count];
    if (last->after != NULL) take_row(c->of, last->after);
    if (last->before != NULL) put_row(c->of, last->before);
    free(last->after);
  }
}

/* --- its begin and its end --- */

change begin_change(state* of) {
  change c;
  memset(&c, 0, sizeof c);
  c.of = of;
  c.head = of->head;
  c.status_head = of->status_head;
  c.purged_through = of->purged_through;
  return c;
}

static void end_change(change* c) {
  free_buffer(&c->entries);
  free(c->rows);
  memset(c, 0, sizeof *c);
}

void keep_change(change* c) {
  for (size_t i = 0; i < c->rows_count; ++i) free(c->rows[i].before);
  end_change(c);
}

void take_change_back(change* c) {
  take_rows_back(c, 0);
  c->of->head = c->head;
  c->of->status_head = c->status_head;
  c->of->purged_through = c->purged_through;
  end_change(c);
}

moment now_in(const change* c) {
  const moment now = {c->entries.size, c->rows_count, c->of->head};
  return now;
}

void take_back_to(change* c, moment when) {
  take_rows_back(c, when.rows_count);
  c->entries.size = when.entries_size;
  c->entries.failed = 0;
  c->of->head = when.head;
}

/* --- entries --- */

/* Deleted records at or below the version go, and their statuses (S7). */
static int32_t apply_purge(change* c, uint64_t through, davit_error* error) {
  row* next = next_record(c->of, 0);
  while (next != NULL && next->of.record.version <= through) {
    row* const at = next;
    next = next_record(c->of, at->of.record.version);
    if (is_live(&at->of.record)) continue;
    row* status = find_status(c->of, &at->of.record.key);
    if (status != NULL && remove_row(c, status, error) != DAVIT_OK) return error->code;
    if (remove_row(c, at, error) != DAVIT_OK) return error->code;
  }
  if (through > c->of->purged_through) c->of->purged_through = through;
  return DAVIT_OK;
}

static int32_t apply_forget(change* c, davit_str region, davit_str agent, davit_error* error) {
  row* const found = find_agent(c->of, region, agent);
  return found == NULL ? DAVIT_OK : remove_row(c, found, error);
}

/* An entry that is no row. */
static int32_t apply_other(change* c, uint8_t letter, davit_str bytes, davit_error* error) {
  reader in = {(const uint8_t*)bytes.ptr, bytes.len, 0};
  const davit_str region = letter == ENTRY_FORGET ? take_text(&in) : text("");
  const davit_str agent = letter == ENTRY_FORGET ? take_text(&in) : text("");
  const uint64_t number = letter == ENTRY_FORGET ? 0 : take_number(&in);
  if (in.failed || in.left != 0)
    return fail(error, DAVIT_DATA_LOSS, text(""), "an entry is malformed");
  if (letter == ENTRY_FORGET) return apply_forget(c, region, agent, error);
  if (letter == ENTRY_PURGE) return apply_purge(c, number, error);
  begin_incarnation(c->of, number);
  return DAVIT_OK;
}

static int32_t apply_entry(change* c, uint8_t letter, davit_str bytes, davit_error* error) {
  switch (letter) {
    case ROW_RECORD:
    case ROW_STATUS:
    case ROW_AGENT:
    case ROW_REQUEST: {
      row* made = make_row((row_type)letter, bytes, error);
      return made == NULL ? error->code : replace(c, made, error);
    }
    case ENTRY_INCARNATION:
    case ENTRY_FORGET:
    case ENTRY_PURGE:
      return apply_other(c, letter, bytes, error);
    default:
      return fail(error, DAVIT_DATA_LOSS, text(""),
                  "has an entry that this version of the plugin does not know");
  }
}

int32_t apply_entries(change* c, davit_str entries, davit_error* error) {
  reader in = {(const uint8_t*)entries.ptr, entries.len, 0};
  while (in.left > 0) {
    const uint8_t letter = take_byte(&in);
    const davit_str bytes = take_text(&in);
    if (in.failed) return fail(error, DAVIT_DATA_LOSS, text(""), "an entry is malformed");
    if (apply_entry(c, letter, bytes, error) != DAVIT_OK) return error->code;
  }
  return DAVIT_OK;
}

/* Writes the entry and applies it. `bytes` are freed. */
static int32_t enter(change* c, int letter, buffer* bytes, davit_error* error) {
  const moment before = now_in(c);
  const uint8_t byte = (uint8_t)letter;
  const davit_str written = {(const char*)bytes->data, bytes->size};
  put_bytes(&c->entries, &byte, 1);
  put_text(&c->entries, written);
  int32_t code = bytes->failed || c->entries.failed ? no_memory(error) : DAVIT_OK;
  if (code == DAVIT_OK) code = apply_entry(c, byte, written, error);
  if (code != DAVIT_OK) take_back_to(c, before);
  free_buffer(bytes);
  return code;
}

int32_t change_record(change* c, const davit_record* record, int hidden, davit_error* error) {
  buffer bytes = {NULL, 0, 0, 0};
  put_record(&bytes, record, hidden);
  return enter(c, ROW_RECORD, &bytes, error);
}

int32_t change_status(change* c, const davit_status* status, davit_error* error) {
  buffer bytes = {NULL, 0, 0, 0};
  put_status(&bytes, status);
  return enter(c, ROW_STATUS, &bytes, error);
}

int32_t change_agent(change* c, const davit_progress* progress, davit_error* error) {
  buffer bytes = {NULL, 0, 0, 0};
  put_agent(&bytes, progress);
  return enter(c, ROW_AGENT, &bytes, error);
}

int32_t change_request(change* c, const request* from, davit_error* error) {
  buffer bytes = {NULL, 0, 0, 0};
  put_request(&bytes, from);
  return enter(c, ROW_REQUEST, &bytes, error);
}

int32_t change_incarnation(change* c, uint64_t number, davit_error* error) {
  buffer bytes = {NULL, 0, 0, 0};
  put_number(&bytes, number);
  return enter(c, ENTRY_INCARNATION, &bytes, error);
}

int32_t forget_agent(change* c, davit_str region, davit_str agent, davit_error* error) {
  buffer bytes = {NULL, 0, 0, 0};
  put_text(&bytes, region);
  put_text(&bytes, agent);
  return enter(c, ENTRY_FORGET, &bytes, error);
}

int32_t purge(change* c, uint64_t through, davit_error* error) {
  buffer bytes = {NULL, 0, 0, 0};
  put_number(&bytes, through);
  return enter(c, ENTRY_PURGE, &bytes, error);
}
