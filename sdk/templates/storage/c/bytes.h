/* Texts, and bytes that are written and read piece by piece: what rows and the log are made of.
 * A number takes one byte for each seven bits (LEB128). A text is its length and its bytes.
 *
 * Errors stick: write or read all pieces, and look at `failed` once, at the end. */
#pragma once
#include <davit/abi.h>

/* Below 0, 0 or above 0, as the bytes of `a` stand to those of `b`. */
int compare_texts(davit_str a, davit_str b);
int same_text(davit_str a, davit_str b);
/* A text of C, which it borrows. */
davit_str text(const char* terminated);

/* Fills in the error, and returns its code. */
int32_t fail(davit_error* error, int32_t code, davit_str where, const char* message);
int32_t no_memory(davit_error* error);

/* The CRC-32C of the bytes; `crc` is that of what stands before them, else 0. */
uint32_t crc32c(uint32_t crc, const void* bytes, size_t size);

/* Bytes that grow. All zero is an empty one. */
typedef struct buffer {
  uint8_t* data;
  size_t size, room;
  int failed; /* there was no memory for a piece */
} buffer;
void put_bytes(buffer* out, const void* bytes, size_t size);
void put_number(buffer* out, uint64_t number);
void put_text(buffer* out, davit_str from);
void free_buffer(buffer* out);

/* What is left to be read. */
typedef struct reader {
  const uint8_t* at;
  size_t left;
  int failed; /* a piece was not there, or not whole */
} reader;
uint8_t take_byte(reader* from);
uint64_t take_number(reader* from);
/* Borrows from what is read. */
davit_str take_text(reader* from);
