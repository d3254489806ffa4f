/* Optional, beside the role storage: a store whose schema is made and changed by a command of its
 * own, while the servers are stopped or before they are upgraded. `davit storage migrate` uses this
 * table, which is looked up by its id. A storage that needs no such step does not have it. Include
 * this header beside abi.h. */
#ifndef DAVIT_ABI_STORAGE_SCHEMA_H
#define DAVIT_ABI_STORAGE_SCHEMA_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Say what would be done. The store is the same afterwards. */
#define DAVIT_MIGRATE_DRY_RUN DAVIT_CRITICAL(0)

#define DAVIT_STORAGE_SCHEMA "davit.storage_schema/1"
typedef struct davit_storage_schema {
  uint32_t struct_size;
  uint32_t reserved;
  /* Brings the schema to the version that this plugin needs, or makes it. Writes a line for each
   * step to `steps`; no line: there was nothing to do. All steps are made, or none. The error is
   * FAILED_PRECONDITION when the store has a newer schema, or is not one of Davit. It may be
   * UNAVAILABLE while a server has the store open; a dry run may then list the steps only. A start
   * with an older schema is refused, with this command as the advice. Legal before start. [pool] */
  int32_t (*migrate)(davit_instance*, const davit_op*, uint32_t flags, const davit_sink* steps,
                     davit_error*);
} davit_storage_schema;

#ifdef __cplusplus
}
#endif
#endif
