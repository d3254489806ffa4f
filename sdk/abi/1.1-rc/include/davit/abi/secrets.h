/* Role secrets: decrypts values and reads them from a secret store. The applier calls it, so that
 * plaintext exists only where a workload runs. Include this header beside abi.h.
 *
 * The contract. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * X1 One result an item. `done` gets as many results as there were items, in their order. An item
 *    that fails does not fail the others. An empty batch is answered with no results.
 * X2 Answered once. `done` is called exactly once for each call of `resolve`, on any thread,
 *    perhaps before `resolve` returns. `stop` answers what is still open before it returns.
 * X3 The caller's limits hold. After op's deadline, or once the caller has cancelled, the items
 *    that are still open are answered DEADLINE_EXCEEDED or CANCELLED.
 * X4 Codes. INVALID_ARGUMENT: the item can never be resolved as it is, such as a ciphertext that
 *    was made with another key. NOT_FOUND: there is no such keyring, secret, version or field.
 *    PERMISSION_DENIED and UNAUTHENTICATED: this instance may not. UNAVAILABLE, with retry_after_ms
 *    when it is known: try again later. UNIMPLEMENTED: the instance does not know the item's type.
 * X5 Nothing is shown. No text of an error, log line or metric has a plaintext or a ciphertext. An
 *    error names the item's keyring or ref, and nothing else of it.
 * X6 Same item, same value, while the secret's version does not change. */
#ifndef DAVIT_ABI_SECRETS_H
#define DAVIT_ABI_SECRETS_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `data` is a ciphertext of the keyring. Its form is the instance's: base64 text or bytes. */
#define DAVIT_SECRET_DECRYPT 1
/* `ref` names a secret in the store, `field` one value in it (empty: the only one), `version` the
 * version (empty: the newest). */
#define DAVIT_SECRET_READ 2

/* One value to resolve. Fields that the type does not use are empty. */
typedef struct davit_secret_item {
  uint32_t struct_size;
  int32_t type;           /* DAVIT_SECRET_... */
  davit_str keyring;      /* whose key encrypted it: the environment's id, a transit key's name */
  davit_bytes ciphertext; /* of DECRYPT */
  davit_str ref;          /* of READ: "apps/web/database" */
  davit_str field;        /* of READ: "password" */
  davit_str version;      /* of READ: "7" */
} davit_secret_item;

/* What became of one item. Borrowed for `done`. The instance wipes its copy of the value after
 * `done` has returned. */
typedef struct davit_secret_result {
  uint32_t struct_size;
  uint32_t reserved;
  const davit_error* error;    /* NULL: the value is there */
  davit_bytes value;           /* plaintext; may be empty */
  davit_str version;           /* which version was read; empty: the store has none */
  int64_t valid_until_unix_ms; /* when the value has to be resolved anew; 0 = not stated */
} davit_secret_result;

typedef void (*davit_secrets_done)(void* ctx, const davit_secret_result* const* results,
                                   size_t count);

#define DAVIT_SECRETS "davit.secrets/1"
typedef struct davit_secrets {
  uint32_t struct_size;
  uint32_t reserved;
  /* Resolves the items and calls `done`. The items are borrowed for the call; op lives until `done`
   * has been called. Legal from start on. [any] */
  void (*resolve)(davit_instance*, const davit_op*, const davit_secret_item* const* items,
                  size_t count, davit_secrets_done done, void* ctx);
} davit_secrets;

#ifdef __cplusplus
}
#endif
#endif
