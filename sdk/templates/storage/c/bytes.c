#include "bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int compare_texts(davit_str a, davit_str b) {
  const size_t shorter = a.len < b.len ? a.len : b.len;
  const int order = shorter == 0 ? 0 : memcmp(a.ptr, b.ptr, shorter);
  if (order != 0) return order;
  return a.len < b.len ? -1 : a.len > b.len;
}

int same_text(davit_str a, davit_str b) {
  return a.len == b.len && compare_texts(a, b) == 0;
}

davit_str text(const char* terminated) {
  const davit_str out = {terminated, strlen(terminated)};
  return out;
}

int32_t fail(davit_error* error, int32_t code, davit_str where, const char* message) {
  const size_t most = sizeof error->where - 1;
  const size_t length = where.len < most ? where.len : most;
  error->code = code;
  if (length > 0) memcpy(error->where, where.ptr, length);
  error->where[length] = '\0';
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

int32_t no_memory(davit_error* error) {
  return fail(error, DAVIT_RESOURCE_EXHAUSTED, text(""), "no memory");
}

/* Four bits at a time, so the table is short. */
uint32_t crc32c(uint32_t crc, const void* bytes, size_t size) {
  static const uint32_t table[16] = {0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1,
                                     0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
                                     0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
                                     0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75};
  const uint8_t* at = bytes;
  crc = ~crc;
  for (size_t i = 0; i < size; ++i) {
    crc ^= at[i];
    crc = (crc >> 4) ^ table[crc & 15];
    crc = (crc >> 4) ^ table[crc & 15];
  }
  return ~crc;
}

/* --- writing --- */

static int make_room(buffer* out, size_t size) {
  if (out->failed) return 0;
  if (size <= out->room - out->size) return 1;
  size_t room = out->room < 256 ? 256 : out->room;
  while (room - out->size < size && room <= SIZE_MAX / 2) room *= 2;
  uint8_t* data = room - out->size < size ? NULL : realloc(out->data, room);
  if (data == NULL) {
    out->failed = 1;
    return 0;
  }
  out->data = data;
  out->room = room;
  return 1;
}

void put_bytes(buffer* out, const void* bytes, size_t size) {
  if (size == 0 || !make_room(out, size)) return;
  memcpy(out->data + out->size, bytes, size);
  out->size += size;
}

void put_number(buffer* out, uint64_t number) {
  uint8_t bytes[10];
  size_t size = 0;
  for (; number >= 0x80; number >>= 7) bytes[size++] = (uint8_t)(number | 0x80);
  bytes[size++] = (uint8_t)number;
  put_bytes(out, bytes, size);
}

void put_text(buffer* out, davit_str from) {
  put_number(out, from.len);
  put_bytes(out, from.ptr, from.len);
}

void free_buffer(buffer* out) {
  free(out->data);
  memset(out, 0, sizeof *out);
}

/* --- reading --- */

uint8_t take_byte(reader* from) {
  if (from->left == 0) {
    from->failed = 1;
    return 0;
  }
  --from->left;
  return *from->at++;
}

uint64_t take_number(reader* from) {
  uint64_t out = 0;
  for (unsigned shift = 0; shift < 64 && !from->failed; shift += 7) {
    const uint8_t byte = take_byte(from);
    out |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return from->failed ? 0 : out;
  }
  from->failed = 1;
  return 0;
}

davit_str take_text(reader* from) {
  davit_str out = {"", 0};
  const uint64_t length = take_number(from);
  if (length > from->left) from->failed = 1;
  if (from->failed || length == 0) return out;
  out.ptr = (const char*)from->at;
  out.len = (size_t)length;
  from->at += out.len;
  from->left -= out.len;
  return out;
}
