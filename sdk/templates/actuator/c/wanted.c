#include "wanted.h"

#include <stdio.h>
#include <string.h>

#include "fault.h"
#include "json.h"

#define API_VERSION "directory.example.com/v1"
#define VALUE "spec.providerSpec.value"

enum { FILE_NAME_MAX = 200, A_DAY_MS = 86400000 };

int is_file_name(davit_str text) {
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
  if (text.len == 0 || text.len > FILE_NAME_MAX || text.ptr[0] == '.') return 0;
  for (size_t i = 0; i < text.len; ++i) {
    if (memchr(allowed, text.ptr[i], sizeof allowed - 1) == NULL) return 0;
  }
  return 1;
}

static int32_t files_of(json_t* files, davit_error* error) {
  if (!json_is_object(files))
    return wrong(error, VALUE ".files", "is no object with the content of files");
  const char* name = NULL;
  json_t* content = NULL;
  json_object_foreach(files, name, content) {
    const davit_str text = {name, strlen(name)};
    if (!is_file_name(text))
      return wrong(error, VALUE ".files", "has a key that is no name of a file");
    if (json_is_string(content)) continue;
    char field[sizeof VALUE + sizeof ".files." + FILE_NAME_MAX];
    snprintf(field, sizeof field, VALUE ".files.%s", name);
    return wrong(error, field, "is no text");
  }
  return DAVIT_OK;
}

static int32_t milliseconds_of(const json_t* value, const char* key, int64_t* out,
                               davit_error* error) {
  const json_t* found = json_object_get(value, key);
  *out = 0;
  if (found == NULL) return DAVIT_OK;
  const double number = json_is_real(found) ? json_real_value(found) : -1;
  if (number >= 0 && number <= A_DAY_MS) *out = (int64_t)number;
  if ((double)*out == number) return DAVIT_OK;
  char field[64];
  snprintf(field, sizeof field, VALUE ".%s", key);
  return wrong(error, field, "is no number of milliseconds, up to a day");
}

static int is_our_version(const json_t* version) {
  return json_string_length(version) == sizeof API_VERSION - 1 &&
         memcmp(json_string_value(version), API_VERSION, sizeof API_VERSION - 1) == 0;
}

int32_t wanted_of(davit_str cluster, struct wanted* out, davit_error* error) {
  /* A file may have any content. No name of a file has a U+FFFD. */
  out->cluster = parse(cluster, JSON_ALLOW_NUL, error);
  if (out->cluster == NULL) return error->code;
  const json_t* spec = json_object_get(out->cluster, "spec");
  const json_t* value = json_object_get(json_object_get(spec, "providerSpec"), "value");
  const json_t* version = json_object_get(value, "apiVersion");
  int32_t code = DAVIT_OK;
  out->files = json_object_get(value, "files");
  if (!json_is_object(value))
    code = wrong(error, VALUE, "is no object");
  else if (!is_our_version(version))
    code = fail(error, DAVIT_UNIMPLEMENTED, VALUE ".apiVersion", "is not of " API_VERSION);
  else
    code = files_of(out->files, error);
  if (code == DAVIT_OK) code = milliseconds_of(value, "boot_ms", &out->boot_ms, error);
  if (code == DAVIT_OK) code = milliseconds_of(value, "step_ms", &out->step_ms, error);
  if (code != DAVIT_OK) json_decref(out->cluster);
  return code;
}
