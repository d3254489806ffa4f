#include "json.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"

size_t find_nul(davit_str text, size_t at) {
  while (at < text.len) {
    if (text.ptr[at] != '\\')
      ++at;
    else if (text.len - at >= 6 && memcmp(text.ptr + at, "\\u0000", 6) == 0)
      return at;
    else
      at += 2; /* what is escaped begins no escape */
  }
  return text.len;
}

/* Where the string that begins at `at` has ended. */
static size_t end_of_string(davit_str text, size_t at) {
  for (++at; at < text.len; ++at) {
    if (text.ptr[at] == '"') return at + 1;
    if (text.ptr[at] == '\\') ++at;
  }
  return text.len;
}

/* There is a zero behind the text. */
static void replace_nul(char* json, size_t length, int keeps_values) {
  const davit_str text = {json, length};
  size_t at = 0;
  while (at < length) {
    if (json[at] != '"') {
      ++at;
      continue;
    }
    const davit_str string = {json, end_of_string(text, at)};
    const char* next = json + string.len;
    next += strspn(next, " \t\r\n");
    const int is_key = *next == ':';
    for (size_t nul = at; (nul = find_nul(string, nul)) < string.len; nul += 6) {
      if (is_key || !keeps_values) memcpy(json + nul, "\\ufffd", 6);
    }
    at = string.len;
  }
}

json_t* parse(davit_str text, size_t flags, davit_error* error) {
  char* copy = calloc(1, text.len + 1);
  if (copy == NULL) {
    fail(error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
    return NULL;
  }
  if (text.len > 0) memcpy(copy, text.ptr, text.len);
  replace_nul(copy, text.len, flags == JSON_ALLOW_NUL);
  json_t* value = json_loadb(copy, text.len, JSON_DECODE_INT_AS_REAL | flags, NULL);
  free(copy);
  if (json_is_object(value)) return value;
  json_decref(value);
  wrong(error, "", "not a JSON object");
  return NULL;
}
