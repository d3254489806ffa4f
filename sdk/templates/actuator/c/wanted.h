/* What a Cluster wants of this actuator: its spec.providerSpec.value, read. */
#pragma once
#include <davit/abi.h>
#include <jansson.h>

struct wanted {
  json_t* cluster;
  json_t* files;   /* names, and their content, which may be a credential; a part of `cluster` */
  int64_t boot_ms; /* the cluster is ready so long after it was begun */
  int64_t step_ms; /* before each file that is written */
};

/* `cluster` is the whole Cluster as JSON. No text of an error quotes it. After DAVIT_OK the caller
 * frees it with json_decref(out->cluster). */
int32_t wanted_of(davit_str cluster, struct wanted* out, davit_error* error);

/* Whether a text can be the name of a file, or a part of one, and is not hidden. */
int is_file_name(davit_str text);
