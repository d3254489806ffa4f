/* An append-only file of batches. A batch is on the disk when log_append() returns, whole or not at
 * all. What a kill or a power cut leaves of one at the end of the file is cut off when the file is
 * opened. Damage anywhere else is refused, and nothing is cut off.
 *
 * The file begins with a line that names its format. A batch is a head of 16 bytes and a body. The
 * head is the length of the body (8 bytes), the checksum of the length and of the batch's place in
 * the file, and the checksum of the body (4 bytes each). Numbers have their lowest byte first. */
#pragma once
#include <sys/types.h>

#include "bytes.h"

typedef struct log_file {
  int file;      /* -1: not open */
  uint64_t end;  /* behind the last batch */
  int is_broken; /* nobody knows what is behind the end */
} log_file;

/* What is done with each batch when the file is opened. What is not OK ends the opening. */
typedef int32_t (*log_replay)(void* ctx, davit_str batch, davit_error* error);

/* Opens the file, or makes it, locks it, and replays its batches. UNAVAILABLE: another process has
 * it open. DATA_LOSS: it is damaged before its end. FAILED_PRECONDITION: it is no such file. */
int32_t log_open(log_file* log, const char* path, log_replay replay, void* ctx, davit_error* error);

/* Not OK: nothing of the batch is in the file, or nobody knows. Then every later append fails, and
 * the next log_open() finds out. */
int32_t log_append(log_file* log, const void* batch, size_t size, davit_error* error);

void log_close(log_file* log);
