/* A row is one thing that the store keeps: a record, a status, an agent's progress, or a request
 * that was answered. Rows never change. A change makes a new row, which takes the place of the
 * earlier one, so a change can be taken back.
 *
 * The bytes of a row stand in the log. A row is always made from its bytes, so what is in memory
 * after a commit is what a restart reads. */
#pragma once
#include "bytes.h"
#include "tree.h"

/* The letters stand in the log. Do not change them. */
typedef enum row_type {
  ROW_RECORD = 'R',
  ROW_STATUS = 'S',
  ROW_AGENT = 'A',
  ROW_REQUEST = 'Q'
} row_type;

/* A request id that was answered (S6). */
typedef struct request {
  davit_str id;
  uint64_t first_version;
  int64_t at_unix_ms;
} request;

typedef struct row {
  row_type type;
  uint64_t hidden;                       /* a deleted record whose name another one has (S13) */
  tree_node by_key, by_version, by_name; /* in the indexes of state.h */
  union {
    davit_record record;
    davit_status status;
    davit_progress agent;
    request request;
  } of;
} row;

/* Each writes the bytes of a row. */
void put_record(buffer* out, const davit_record* record, int hidden);
void put_status(buffer* out, const davit_status* status);
void put_agent(buffer* out, const davit_progress* progress);
void put_request(buffer* out, const request* from);

/* Makes a row of its bytes, which it copies. Free it with free(). NULL: the error says why. */
row* make_row(row_type type, davit_str bytes, davit_error* error);
