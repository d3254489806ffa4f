/* Optional, for an instance of any role: the rights that its account needs in another system, as
 * the document that grants them. `davit check --rights` prints the document. Include this header
 * beside abi.h. */
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
  /* Writes a Kubernetes ClusterRole as YAML, in whole lines. Legal after wire. */
  int32_t (*document)(davit_instance*, const davit_sink* text, davit_error*);
} davit_rights;

#ifdef __cplusplus
}
#endif
#endif
