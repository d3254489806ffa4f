#include "fault.h"

#include <stdio.h>

int32_t fail(davit_error* error, int32_t code, const char* where, const char* message) {
  error->code = code;
  snprintf(error->where, sizeof error->where, "%s", where);
  snprintf(error->message, sizeof error->message, "%s", message);
  return code;
}

int32_t wrong(davit_error* error, const char* field, const char* message) {
  return fail(error, DAVIT_INVALID_ARGUMENT, field, message);
}
