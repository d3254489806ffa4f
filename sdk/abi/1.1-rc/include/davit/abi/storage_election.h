/* Optional, beside the role storage: a store that several servers share chooses one of them, the
 * leader, for work that one of them should do, such as purging. A plugin that has such work looks
 * this table up by its id. A storage without it is used by one server, which leads. Include this
 * header beside abi.h.
 *
 * The contract. Tests of the conformance suite carry the number of the rule that they prove.
 *
 * E1  The store lets one instance lead at a time. A leader that has lost the store may take some
 *     time to notice it, so what a leader does is correct even when two do it.
 * E2  When a leader stops, is killed, or no longer answers, another instance leads soon. The
 *     backend documents how soon.
 * E3  An instance that begins to lead hints DAVIT_HINT_LEADER to its watches. */
#ifndef DAVIT_ABI_STORAGE_ELECTION_H
#define DAVIT_ABI_STORAGE_ELECTION_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DAVIT_STORAGE_ELECTION "davit.storage_election/1"
typedef struct davit_storage_election {
  uint32_t struct_size;
  uint32_t reserved;
  /* 1 when this instance leads, 0 when it does not. It asks no database. Legal from start to
   * stop. [any] */
  int32_t (*leads)(davit_instance*);
} davit_storage_election;

#ifdef __cplusplus
}
#endif
#endif
