/* Optional, beside the role kind: what the kind needs of its cluster beyond what its description
 * says. Asked for by its id from the instance that plays the role; a kind that needs no more leaves
 * it out. Include it beside abi.h. [any], legal from create on. */
#ifndef DAVIT_ABI_KIND_NEEDS_H
#define DAVIT_ABI_KIND_NEEDS_H

#include "kind.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct davit_kind_need {
  uint32_t struct_size;
  uint32_t verbs_count;
  davit_str kind;                     /* whose need it is */
  davit_str group, version, resource; /* group "" = core */
  davit_str name; /* of an object that must be there ("gvisor"); empty: it is of the resource */
  /* Verbs that the account needs besides those that the resource's role implies: "delete" of pods.
   */
  const davit_str* verbs;
  /* The setting of the kind's instance that does without: of the verbs alone, when there are any.
   * As it is written in a file: "autoscaling = false". Empty: there is none. */
  davit_str setting;
} davit_kind_need;
typedef void (*davit_visit_kind_need)(void* ctx, const davit_kind_need*);

#define DAVIT_KIND_NEEDS "davit.kind_needs/1"
typedef struct davit_kind_needs {
  uint32_t struct_size;
  uint32_t reserved;
  void (*needs)(davit_instance*, davit_visit_kind_need visit, void* ctx);
} davit_kind_needs;

#ifdef __cplusplus
}
#endif
#endif
