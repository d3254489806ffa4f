/* Optional, beside the role storage: a store in which others than Davit write down, in transactions
 * of their own, what a record is to be. Such a row is an intent. The plugin `intents` looks this
 * table up by its id, applies each intent by the role records, and lets the store write the outcome
 * beside it. Calls block [pool]. Include this header beside abi.h.
 *
 * The contract. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * I1  An intent is open until it has an outcome: a version, or an error. An outcome never changes.
 * I2  `open` visits the open intents above `after` that are visible, in ascending order of their
 *     ids. An id is above 0 and below 2^63, and is given once. Ids may become visible in another
 *     order than they were given in: whoever has come to the end begins again at 0.
 * I3  A group that carries an intent (davit_group.intent) writes the outcome in the transaction of
 *     its change: the incarnation, and the version of its last mutation. After a crash there are
 *     both or none.
 * I4  A group whose intent is not open, or is not there, changes nothing. Its error is
 *     FAILED_PRECONDITION with "intent" in `where`; UNAVAILABLE when it cannot be known yet,
 *     because another transaction has the intent. Nobody else waits for that. So two leaders apply
 *     an intent once, and an intent that was removed before it was applied is withdrawn.
 * I5  `settle` writes an outcome for which nothing is committed. It changes nothing, and is
 *     answered OK, when the intent is not open or is not there. UNAVAILABLE as in I4.
 * I6  After an intent became visible, a hint of DAVIT_HINT_INTENTS comes soon to every watch (S9).
 * I7  `document` and `author` are given as they were written. The author is whom the database knows
 *     as the writer of the row, and not what the row says. */
#ifndef DAVIT_ABI_STORAGE_INTENTS_H
#define DAVIT_ABI_STORAGE_INTENTS_H

#include "storage.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One open intent. */
typedef struct davit_intent {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t id;
  davit_str document; /* JSON, if whoever wrote it has kept to that */
  davit_str author;
} davit_intent;
/* Return 0 to go on, 1 to stop. */
typedef int32_t (*davit_visit_intent)(void* ctx, const davit_intent*);

/* The outcome of an intent for which nothing is committed. */
typedef struct davit_intent_outcome {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t id;
  const davit_error* error; /* NULL: the record is already as the intent says */
  davit_cursor at;          /* without an error: the record's version and its incarnation. 0: there
                               is none */
} davit_intent_outcome;

#define DAVIT_STORAGE_INTENTS "davit.storage_intents/1"
typedef struct davit_storage_intents {
  uint32_t struct_size;
  uint32_t reserved;
  /* Visits at most `limit` open intents with ids above `after` (I2). A store may visit fewer, so
   * that its answer fits into memory. None: there are no more. */
  int32_t (*open)(davit_instance*, const davit_op*, uint64_t after, uint32_t limit,
                  davit_visit_intent, void* ctx, davit_error*);
  /* Writes one outcome (I5). */
  int32_t (*settle)(davit_instance*, const davit_op*, const davit_intent_outcome*, davit_error*);
} davit_storage_intents;

#ifdef __cplusplus
}
#endif
#endif
