/* Optional, beside the role kind: what the kind needs of its cluster beyond its description. The
 * applier looks this table up by its id, and reports needs that the cluster does not meet as
 * issues. A kind that needs no more does not have the table. Include this header beside abi.h.
 * [any], legal from create on. */
#ifndef DAVIT_ABI_KIND_NEEDS_H
#define DAVIT_ABI_KIND_NEEDS_H

#include "kind.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct davit_kind_need {
  uint32_t struct_size;
  uint32_t verbs_count;
  davit_str kind;                     /* the kind that has the need */
  davit_str group, version, resource; /* group "" = core */
  /* An object that must exist ("gvisor"). Empty when the need is about the resource. */
  davit_str name;
  /* Verbs that the account needs besides those that the resource's role implies, such as "delete"
   * of pods. */
  const davit_str* verbs;
  /* The setting of the kind's instance that removes the need, as a file has it: "autoscaling =
   * false". When there are verbs, the setting removes the need of the verbs only. Empty when there
   * is no such setting. */
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
