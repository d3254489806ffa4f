/* How an error leaves the plugin. */
#pragma once
#include <davit/abi.h>

/* Fills in the error, and returns its code. */
int32_t fail(davit_error* error, int32_t code, const char* where, const char* message);

/* The caller's mistake, in this field. */
int32_t wrong(davit_error* error, const char* field, const char* message);
