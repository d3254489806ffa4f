/* A secrets instance that turns letters by thirteen, which is how its ciphertexts are made. It has
 * no secret store: what is to be read is not found. */
#include <stdlib.h>

#include "plugin.h"

struct davit_instance {
  const davit_host* host;
};

/* A batch while it is answered. */
typedef struct batch {
  davit_secret_result* results;
  const davit_secret_result** pointers;
  davit_error* errors;
  uint8_t* texts; /* of all items, one behind the other */
} batch;

static uint8_t turned(uint8_t c) {
  if (c >= 'a' && c <= 'z') return (uint8_t)('a' + (c - 'a' + 13) % 26);
  if (c >= 'A' && c <= 'Z') return (uint8_t)('A' + (c - 'A' + 13) % 26);
  return c;
}

static size_t bytes_of(const davit_secret_item* const* items, size_t count) {
  size_t out = 1, i;
  for (i = 0; i < count; ++i) out += items[i]->ciphertext.len;
  return out;
}

static int32_t resolve_one(const davit_secret_item* item, davit_secret_result* result,
                           davit_error* error, uint8_t* text) {
  size_t i;
  if (item->type == DAVIT_SECRET_READ)
    return fail(error, DAVIT_NOT_FOUND, "ref", "this instance has no secrets of its own");
  if (item->type != DAVIT_SECRET_DECRYPT)
    return fail(error, DAVIT_UNIMPLEMENTED, "type", "this instance does not know the item's type");
  for (i = 0; i < item->ciphertext.len; ++i) text[i] = turned(item->ciphertext.ptr[i]);
  result->value.ptr = text;
  result->value.len = item->ciphertext.len;
  return DAVIT_OK;
}

static void resolve(davit_instance* self, const davit_op* op, const davit_secret_item* const* items,
                    size_t count, davit_secrets_done done, void* ctx) {
  const int32_t over = op->cancelled(op) ? DAVIT_CANCELLED : DAVIT_OK;
  const size_t bytes = bytes_of(items, count);
  size_t at = 0, i;
  batch b;
  (void)self;
  b.results = calloc(count + 1, sizeof *b.results);
  b.pointers = calloc(count + 1, sizeof *b.pointers);
  b.errors = calloc(count + 1, sizeof *b.errors);
  b.texts = calloc(bytes, 1);
  for (i = 0; i < count; ++i) {
    davit_secret_result* result = &b.results[i];
    int32_t code = over;
    result->struct_size = sizeof *result;
    if (over != DAVIT_OK)
      fail(&b.errors[i], over, "", "the caller has given up");
    else
      code = resolve_one(items[i], result, &b.errors[i], b.texts + at);
    if (code != DAVIT_OK) result->error = &b.errors[i];
    at += items[i]->ciphertext.len;
    b.pointers[i] = result;
  }
  done(ctx, b.pointers, count);
  memset(b.texts, 0, bytes);
  free(b.texts);
  free(b.errors);
  free(b.pointers);
  free(b.results);
}

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  (void)error;
  *out = calloc(1, sizeof **out);
  (*out)->host = host;
  return DAVIT_OK;
}
static void destroy(davit_instance* self) {
  free(self);
}

static const davit_secrets secrets = {sizeof(davit_secrets), 0, resolve};

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  return equal(id, str(DAVIT_SECRETS)) ? &secrets : NULL;
}

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  static davit_plugin plugin;
  (void)host_abi_minor;
  (void)error;
  describe_plugin(&plugin, "secrets that are turned by thirteen");
  plugin.create = create;
  plugin.destroy = destroy;
  plugin.query = query;
  return &plugin;
}
