/* What is left to do around Jansson: numbers of any size, and NUL characters. */
#pragma once
#include <davit/abi.h>
#include <jansson.h>

/* Where the escape of a NUL character begins, at `at` or behind it; else the end. */
size_t find_nul(davit_str text, size_t at);

/* A JSON object, which is the caller's; NULL: it is none, and the error says so. Numbers of any
 * size are taken, as reals. The keys of Jansson have no place for a NUL character: it is read as
 * U+FFFD, and so is one of a string, unless `flags` is JSON_ALLOW_NUL. */
json_t* parse(davit_str text, size_t flags, davit_error* error);
