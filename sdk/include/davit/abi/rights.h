/* Optional, of any instance: the rights that its account must have somewhere else, as the document
 * that grants them. `davit check --rights` prints it. Include it beside abi.h. */
#ifndef DAVIT_ABI_RIGHTS_H
#define DAVIT_ABI_RIGHTS_H

#include "core.h"

#ifdef __cplusplus
extern "C" {
#endif

#define DAVIT_RIGHTS "davit.rights/1"
typedef struct davit_rights {
  uint32_t struct_size;
  uint32_t reserved;
  /* After wire. YAML, whole lines: a Kubernetes ClusterRole. */
  int32_t (*document)(davit_instance*, const davit_sink* text, davit_error*);
} davit_rights;

#ifdef __cplusplus
}
#endif
#endif
