/* A kind in C99. A record of it is a ConfigMap.
 *
 * A kind is pure: JSON in, JSON out. It has no clock, socket or thread, and remembers nothing.
 * <davit/abi/kind.h> has the shapes and the rules. Read this file from the bottom: the entry, the
 * plugin's steps, the slots of its role. */
#include <davit/abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "@kind@_descriptors.h"
#include "fault.h"
#include "json.h"

#define STR(literal) \
  { (literal), sizeof(literal) - 1 }
#define COMPONENT "app.kubernetes.io/component"
#define ID_LABEL "@kind_dashed@.acme.example/id"
#define OWNER_LABEL "@kind_dashed@.acme.example/owner"

enum { SIZE_MAX_MM = 10000, LABEL_MAX = 63, SUBDOMAIN_MAX = 253 };

struct davit_instance {
  char* owner;
  davit_kind_description description;
};

static davit_str str(const char* text) {
  const davit_str s = {text, strlen(text)};
  return s;
}

static int is(davit_str s, const char* text) {
  return s.len == strlen(text) && memcmp(s.ptr, text, s.len) == 0;
}

/* A member that is a string; NULL otherwise. */
static const char* text_of(const json_t* object, const char* key) {
  return json_string_value(json_object_get(object, key));
}

static const char* metadata(const json_t* object, const char* key) {
  return text_of(json_object_get(object, "metadata"), key);
}

/* --- what a document says --- */

static int is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* What Kubernetes takes as the name of a namespace. */
static int is_label(const char* text, size_t length) {
  if (length == 0 || length > LABEL_MAX) return 0;
  for (size_t i = 0; i < length; ++i) {
    if (!is_letter_or_digit(text[i]) && text[i] != '-') return 0;
  }
  return is_letter_or_digit(text[0]) && is_letter_or_digit(text[length - 1]);
}

/* What it takes as the name of a ConfigMap: labels with dots between them. A part may be longer
 * than a label. */
static int is_subdomain(const char* text) {
  const size_t length = strlen(text);
  if (length == 0 || length > SUBDOMAIN_MAX) return 0;
  for (size_t i = 0; i <= length; ++i) {
    const int ends = i == length || text[i] == '.';
    if (!ends && !is_letter_or_digit(text[i]) && text[i] != '-') return 0;
    const int begins = i == 0 || text[i - 1] == '.';
    if ((begins || ends) && i < length && !ends && !is_letter_or_digit(text[i])) return 0;
    if (ends && (begins || !is_letter_or_digit(text[i - 1]))) return 0;
  }
  return 1;
}

/* proto3 has no required fields, so the kind checks them. */
static int32_t name_of(const json_t* message, davit_named* out, davit_error* error) {
  static const char* const fields[] = {"@kind@_id", "namespace", "name"};
  davit_str* const into[] = {&out->id, &out->ns, &out->name};
  for (size_t i = 0; i < 3; ++i) {
    const char* value = text_of(message, fields[i]);
    if (value == NULL || *value == '\0') return wrong(error, fields[i], "is missing");
    *into[i] = str(value);
  }
  return DAVIT_OK;
}

/* In the codec's JSON 64-bit integers are strings, and a field that is 0 is absent. */
static int32_t size_of(const json_t* message, const char** out, davit_error* error) {
  const char* digits = text_of(message, "size");
  const size_t length = digits == NULL ? 0 : strlen(digits);
  const int plain = length > 0 && length < 10 && strspn(digits, "0123456789") == length;
  const long size = plain ? strtol(digits, NULL, 10) : 0;
  if (size < 1 || size > SIZE_MAX_MM) return wrong(error, "size", "must be 1 to 10000");
  while (*digits == '0') ++digits;
  *out = digits;
  return DAVIT_OK;
}

/* The ConfigMap's data; NULL: the error says what is wrong with the message. */
static json_t* data_of(const json_t* message, davit_error* error) {
  const char* size = NULL;
  if (size_of(message, &size, error) != DAVIT_OK) return NULL;
  json_t* data = json_pack("{s:s}", "size", size);
  const char* colour = text_of(message, "colour");
  if (colour != NULL && *colour != '\0') json_object_set_new(data, "colour", json_string(colour));
  json_t* options = json_object_get(message, "options");
  if (options == NULL) return data;
  const char* key = NULL;
  json_t* value = NULL;
  char name[256];
  if (!json_is_object(options)) goto no_options;
  json_object_foreach(options, key, value) {
    snprintf(name, sizeof name, "option.%s", key);
    if (!json_is_string(value)) goto no_options;
    json_object_set(data, name, value);
  }
  return data;
no_options:
  json_decref(data);
  wrong(error, "options", "must be an object of strings");
  return NULL;
}

/* --- the slots of the role --- */

static const davit_kind_description* describe(davit_instance* self) { return &self->description; }

static int32_t identify(davit_instance* self, davit_str apply, davit_visit_named visit, void* ctx,
                        davit_error* error) {
  (void)self;
  json_t* message = parse(apply, 0, error);
  if (message == NULL) return error->code;
  davit_named named;
  const int32_t code = name_of(message, &named, error);
  if (code == DAVIT_OK) visit(ctx, &named);
  json_decref(message);
  return code;
}

static int32_t validate(davit_instance* self, davit_str apply, davit_error* error) {
  (void)self;
  json_t* message = parse(apply, 0, error);
  if (message == NULL) return error->code;
  davit_named named;
  int32_t code = name_of(message, &named, error);
  if (code == DAVIT_OK && !is_label(named.ns.ptr, named.ns.len))
    code = wrong(error, "namespace", "is no DNS label");
  if (code == DAVIT_OK && !is_subdomain(named.name.ptr))
    code = wrong(error, "name", "is no DNS subdomain");
  if (code == DAVIT_OK) {
    json_t* data = data_of(message, error);
    code = data == NULL ? error->code : DAVIT_OK;
    json_decref(data);
  }
  if (code == DAVIT_OK && find_nul(apply, 0) < apply.len)
    code = wrong(error, "spec", "has a NUL character");
  json_decref(message);
  return code;
}

static int32_t classify(davit_instance* self, davit_str state, davit_str apply, int32_t* out_class,
                        davit_error* error) {
  (void)self, (void)apply, (void)error;
  *out_class = is(state, "running")   ? DAVIT_CLASS_APPLY
               : is(state, "retired") ? DAVIT_CLASS_DELETE
                                      : DAVIT_CLASS_UNHANDLED;
  return DAVIT_OK;
}

/* What is observed: the ConfigMap's data, when there is one, and what a delete of it says. */
static void look(const json_t* observed, json_t** there, json_t* remove) {
  size_t i = 0;
  json_t* object = NULL;
  json_array_foreach(observed, i, object) {
    const char* kind = text_of(object, "kind");
    const char* ns = metadata(object, "namespace");
    const char* name = metadata(object, "name");
    if (kind == NULL || strcmp(kind, "ConfigMap") != 0 || ns == NULL || name == NULL) continue;
    json_decref(*there);
    json_t* data = json_object_get(object, "data");
    *there = data == NULL ? json_object() : json_incref(data);
    if (metadata(object, "deletionTimestamp") != NULL) continue; /* being deleted already */
    json_array_append_new(remove, json_pack("{s:s, s:s, s:s, s:s, s:s}", "group", "", "version",
                                            "v1", "resource", "configmaps", "namespace", ns, "name",
                                            name));
  }
}

static json_t* status_of(int wanted, int there, int updated) {
  const char* health = updated ? "healthy" : wanted || there ? "progressing" : "unknown";
  return json_pack("{s:b, s:s, s:i, s:i, s:i, s:i}", "gone", !wanted && !there, "health", health,
                   "desired", wanted, "updated", updated, "ready", updated, "stale",
                   wanted && there && !updated);
}

/* The namespace is created when it is absent, and never owned. */
static json_t* render(const davit_instance* self, const davit_named* named, json_t* data) {
  return json_pack(
      "[{s:{s:s, s:s, s:{s:s}}, s:s}, {s:{s:s, s:s, s:{s:s, s:s, s:{s:s, s:s, s:s}}, s:O}}]",
      "object", "apiVersion", "v1", "kind", "Namespace", "metadata", "name", named->ns.ptr, "mode",
      "ensure", "object", "apiVersion", "v1", "kind", "ConfigMap", "metadata", "name",
      named->name.ptr, "namespace", named->ns.ptr, "labels", COMPONENT, "@kind@", ID_LABEL,
      named->id.ptr, OWNER_LABEL, self->owner, "data", data);
}

/* Writes the value, which it takes, into the sink. */
static int32_t write_json(json_t* value, const davit_sink* sink, davit_error* error) {
  char* text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS);
  json_decref(value);
  if (text == NULL) return fail(error, DAVIT_INTERNAL, "", "the answer is no JSON");
  const davit_bytes bytes = {(const uint8_t*)text, strlen(text)};
  sink->write(sink->ctx, bytes);
  free(text);
  return DAVIT_OK;
}

/* Level-based: it judges the present state, not events, so it may be called again at any time. */
static int32_t reconcile(davit_instance* self, davit_str input, const davit_sink* sink,
                         davit_error* error) {
  json_t* root = parse(input, 0, error);
  if (root == NULL) return error->code;
  json_t *remove = json_array(), *there = NULL, *data = NULL, *answer = NULL;
  const json_t* observed = json_object_get(root, "observed");
  const json_t* desired = json_object_get(root, "desired");
  davit_named named;
  int32_t code = DAVIT_OK;
  if (observed != NULL && !json_is_array(observed)) {
    code = wrong(error, "observed", "must be a list");
  } else if (desired != NULL && !json_is_object(desired)) {
    code = wrong(error, "desired", "must be an object");
  }
  if (code == DAVIT_OK) look(observed, &there, remove);
  if (code == DAVIT_OK && desired != NULL) code = name_of(desired, &named, error);
  if (code == DAVIT_OK && desired != NULL) {
    data = data_of(desired, error);
    if (data == NULL) code = error->code;
  }
  if (code == DAVIT_OK && desired == NULL) {
    answer = json_pack("{s:[], s:O, s:o}", "apply", "delete", remove, "status",
                       status_of(0, there != NULL, 0));
  } else if (code == DAVIT_OK) {
    const int updated = there != NULL && json_equal(there, data);
    answer = json_pack("{s:o, s:[], s:o}", "apply", render(self, &named, data), "delete", "status",
                       status_of(1, there != NULL, updated));
  }
  if (code == DAVIT_OK) code = write_json(answer, sink, error);
  json_decref(data);
  json_decref(there);
  json_decref(remove);
  json_decref(root);
  return code;
}

static int32_t attribute(davit_instance* self, davit_str object, davit_visit_named visit, void* ctx,
                         davit_error* error) {
  (void)self;
  json_t* value = parse(object, 0, error);
  if (value == NULL) return error->code;
  const json_t* labels = json_object_get(json_object_get(value, "metadata"), "labels");
  const char* id = text_of(labels, ID_LABEL);
  const char* ns = metadata(value, "namespace");
  const char* name = metadata(value, "name");
  int32_t code = DAVIT_OK;
  if (id == NULL || ns == NULL || name == NULL || *id == '\0' || *ns == '\0' || *name == '\0') {
    code = fail(error, DAVIT_NOT_FOUND, "", "it belongs to no record");
  } else {
    const davit_named named = {str(id), str(ns), str(name)};
    visit(ctx, &named);
  }
  json_decref(value);
  return code;
}

static const davit_kind kind_table = {.struct_size = sizeof(davit_kind),
                                      .describe = &describe,
                                      .identify = &identify,
                                      .validate = &validate,
                                      .classify = &classify,
                                      .reconcile = &reconcile,
                                      .attribute = &attribute};

/* --- what it says of itself --- */

static const davit_kind_resource namespaces = {.struct_size = sizeof(davit_kind_resource),
                                               .role = DAVIT_RESOURCE_ENSURED,
                                               .group = STR(""),
                                               .version = STR("v1"),
                                               .resource = STR("namespaces"),
                                               .kind = STR("Namespace")};
static const davit_kind_resource config_maps = {.struct_size = sizeof(davit_kind_resource),
                                                .role = DAVIT_RESOURCE_OWNED,
                                                .group = STR(""),
                                                .version = STR("v1"),
                                                .resource = STR("configmaps"),
                                                .kind = STR("ConfigMap"),
                                                .namespaced = 1,
                                                .selector = STR(COMPONENT "=@kind@")};
static const davit_kind_resource* const resources[] = {&namespaces, &config_maps};

/* What `davit get @kind@` shows of each beside its id, region and state. */
static const davit_kind_column size_column = {.struct_size = sizeof(davit_kind_column),
                                              .source = DAVIT_COLUMN_SPEC,
                                              .name = STR("SIZE"),
                                              .path = STR("/size"),
                                              .type = STR("integer")};
static const davit_kind_column* const columns[] = {&size_column};

static davit_kind_description description(void) {
  const davit_kind_description out = {.struct_size = sizeof(davit_kind_description),
                                      .kind = STR("@kind@"),
                                      .apply_type = STR("acme.v1.Apply@Kind@"),
                                      .descriptor_set = @kind@_descriptors(),
                                      .resources = resources,
                                      .resources_count = 2,
                                      .default_state = STR("running"),
                                      .columns = columns,
                                      .columns_count = 1};
  return out;
}

/* --- the plugin's steps --- */

/* Reading a key declares it: the host refuses one that nobody reads. */
static char* read_owner(const davit_host* host) {
  const davit_str id = STR(DAVIT_CONFIG), key = STR("owner");
  const davit_config* config = host->query(host, id);
  const davit_config_node* node = config->get(config->root(host), key);
  davit_str owner = STR("acme");
  if (config->type(node) == DAVIT_CONFIG_STRING) {
    owner = config->string(node);
  } else if (node != NULL) {
    const davit_str message = STR("must be a string");
    config->reject(host, node, message);
  }
  char* copy = calloc(1, owner.len + 1);
  if (copy != NULL) memcpy(copy, owner.ptr, owner.len);
  return copy;
}

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  davit_instance* self = calloc(1, sizeof *self);
  if (self != NULL) self->owner = read_owner(host);
  if (self == NULL || self->owner == NULL) {
    free(self);
    return fail(error, DAVIT_RESOURCE_EXHAUSTED, "", "no memory");
  }
  self->description = description();
  *out = self;
  return DAVIT_OK;
}

static void destroy(davit_instance* self) {
  free(self->owner);
  free(self);
}

static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  return is(id, DAVIT_KIND) ? &kind_table : NULL;
}

static const davit_plugin plugin = {.struct_size = sizeof(davit_plugin),
                                    .abi_minor = DAVIT_ABI_MINOR,
                                    .name = STR("@name@"),
                                    .version = STR(DAVIT_PLUGIN_VERSION),
                                    .summary = STR("records of kind @kind@ as ConfigMaps"),
                                    .create = &create,
                                    .destroy = &destroy,
                                    .query = &query};

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  (void)host_abi_minor, (void)error;
  return &plugin;
}
