/* A kind whose records are notes. One becomes a ConfigMap of its namespace and name. Its message:
 *
 *   syntax = "proto3";
 *   package frozen;
 *   message Note { string id = 1; string namespace = 2; string name = 3; string text = 4; } */
#include <stdlib.h>

#include "plugin.h"

struct davit_instance {
  const davit_host* host;
};

/* The FileDescriptorSet of the message, as protoc writes it. */
static const uint8_t descriptors[] = {
    0x0a, 0x7a, 0x0a, 0x0a, 0x6e, 0x6f, 0x74, 0x65, 0x2e, 0x70, 0x72, 0x6f, 0x74, 0x6f, 0x12, 0x06,
    0x66, 0x72, 0x6f, 0x7a, 0x65, 0x6e, 0x22, 0x5c, 0x0a, 0x04, 0x4e, 0x6f, 0x74, 0x65, 0x12, 0x0e,
    0x0a, 0x02, 0x69, 0x64, 0x18, 0x01, 0x20, 0x01, 0x28, 0x09, 0x52, 0x02, 0x69, 0x64, 0x12, 0x1c,
    0x0a, 0x09, 0x6e, 0x61, 0x6d, 0x65, 0x73, 0x70, 0x61, 0x63, 0x65, 0x18, 0x02, 0x20, 0x01, 0x28,
    0x09, 0x52, 0x09, 0x6e, 0x61, 0x6d, 0x65, 0x73, 0x70, 0x61, 0x63, 0x65, 0x12, 0x12, 0x0a, 0x04,
    0x6e, 0x61, 0x6d, 0x65, 0x18, 0x03, 0x20, 0x01, 0x28, 0x09, 0x52, 0x04, 0x6e, 0x61, 0x6d, 0x65,
    0x12, 0x12, 0x0a, 0x04, 0x74, 0x65, 0x78, 0x74, 0x18, 0x04, 0x20, 0x01, 0x28, 0x09, 0x52, 0x04,
    0x74, 0x65, 0x78, 0x74, 0x62, 0x06, 0x70, 0x72, 0x6f, 0x74, 0x6f, 0x33};

/* The text of a member, in JSON that has it once and without escapes. Empty when it is absent. */
static davit_str text_of(davit_str json, const char* member) {
  char wanted[40];
  const size_t length = (size_t)snprintf(wanted, sizeof wanted, "\"%s\"", member);
  davit_str out = {"", 0};
  size_t at = 0, end;
  while (at + length < json.len && memcmp(json.ptr + at, wanted, length) != 0) ++at;
  if (at + length >= json.len) return out;
  at += length;
  while (at < json.len && (json.ptr[at] == ':' || json.ptr[at] == ' ')) ++at;
  if (at >= json.len || json.ptr[at] != '"') return out;
  for (end = ++at; end < json.len && json.ptr[end] != '"';) ++end;
  out.ptr = json.ptr + at;
  out.len = end - at;
  return out;
}

static void write_text(const davit_sink* json, davit_str text) {
  davit_bytes bytes;
  bytes.ptr = (const uint8_t*)text.ptr;
  bytes.len = text.len;
  json->write(json->ctx, bytes);
}

static const davit_kind_description* describe(davit_instance* self) {
  static davit_kind_resource config_map;
  static davit_kind_column column;
  static davit_kind_description out;
  static const davit_kind_resource* const resources[] = {&config_map};
  static const davit_kind_column* const columns[] = {&column};
  (void)self;
  config_map.struct_size = sizeof config_map;
  config_map.role = DAVIT_RESOURCE_OWNED;
  config_map.group = str("");
  config_map.version = str("v1");
  config_map.resource = str("configmaps");
  config_map.kind = str("ConfigMap");
  config_map.namespaced = 1;
  config_map.selector = str("frozen.example/note=yes");
  column.struct_size = sizeof column;
  column.source = DAVIT_COLUMN_SPEC;
  column.name = str("TEXT");
  column.path = str("/text");
  column.type = str("string");
  out.struct_size = sizeof out;
  out.kind = str("note");
  out.apply_type = str("frozen.Note");
  out.descriptor_set.ptr = descriptors;
  out.descriptor_set.len = sizeof descriptors;
  out.resources = resources;
  out.resources_count = 1;
  out.default_state = str("kept");
  out.columns = columns;
  out.columns_count = 1;
  return &out;
}

static int32_t validate(davit_instance* self, davit_str apply, davit_error* error) {
  static const char* const members[] = {"id", "namespace", "name"};
  size_t i;
  (void)self;
  for (i = 0; i < 3; ++i) {
    if (text_of(apply, members[i]).len == 0)
      return fail(error, DAVIT_INVALID_ARGUMENT, members[i], "is missing");
  }
  return DAVIT_OK;
}

static int32_t identify(davit_instance* self, davit_str apply, davit_visit_named visit, void* ctx,
                        davit_error* error) {
  davit_named named;
  const int32_t code = validate(self, apply, error);
  if (code != DAVIT_OK) return code;
  named.id = text_of(apply, "id");
  named.ns = text_of(apply, "namespace");
  named.name = text_of(apply, "name");
  visit(ctx, &named);
  return DAVIT_OK;
}

static int32_t classify(davit_instance* self, davit_str state, davit_str apply, int32_t* out_class,
                        davit_error* error) {
  (void)self;
  (void)apply;
  (void)error;
  *out_class = equal(state, str("kept")) ? DAVIT_CLASS_APPLY : DAVIT_CLASS_UNHANDLED;
  return DAVIT_OK;
}

static void write_status(const davit_sink* json, const char* gone, const char* health,
                         const char* desired) {
  write_text(json, str(",\"delete\":[],\"status\":{\"gone\":"));
  write_text(json, str(gone));
  write_text(json, str(",\"health\":\""));
  write_text(json, str(health));
  write_text(json, str("\",\"desired\":"));
  write_text(json, str(desired));
  write_text(json, str(",\"updated\":0,\"ready\":0,\"stale\":0,\"message\":\"\"}}"));
}

static int32_t reconcile(davit_instance* self, davit_str input, const davit_sink* json,
                         davit_error* error) {
  const davit_str desired = text_of(input, "text"), ns = text_of(input, "namespace"),
                  name = text_of(input, "name");
  (void)self;
  if (name.len == 0) return fail(error, DAVIT_INVALID_ARGUMENT, "record.name", "is missing");
  if (desired.len == 0) {
    write_text(json, str("{\"apply\":[]"));
    write_status(json, "true", "unknown", "0");
    return DAVIT_OK;
  }
  write_text(json, str("{\"apply\":[{\"object\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                       "\"metadata\":{\"namespace\":\""));
  write_text(json, ns);
  write_text(json, str("\",\"name\":\""));
  write_text(json, name);
  write_text(json, str("\",\"labels\":{\"frozen.example/note\":\"yes\"}},\"data\":{\"text\":\""));
  write_text(json, desired);
  write_text(json, str("\"}}}]"));
  write_status(json, "false", "progressing", "1");
  return DAVIT_OK;
}

static int32_t attribute(davit_instance* self, davit_str object, davit_visit_named visit, void* ctx,
                         davit_error* error) {
  davit_named named = {{"", 0}, {"", 0}, {"", 0}};
  (void)self;
  named.ns = text_of(object, "namespace");
  named.name = text_of(object, "name");
  if (named.name.len == 0) return fail(error, DAVIT_NOT_FOUND, "", "the object is of no note");
  visit(ctx, &named);
  return DAVIT_OK;
}

/* A kind that is not on the ctrl.v1 wire leaves out the slots behind `attribute`. */
static const davit_kind kind = {
    sizeof(davit_kind), 0,         describe, identify, validate, classify,
    reconcile,          attribute, NULL,     NULL,     NULL,     NULL};

static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
  (void)error;
  *out = calloc(1, sizeof **out);
  (*out)->host = host;
  return DAVIT_OK;
}
static void destroy(davit_instance* self) {
  free(self);
}
static const void* query(davit_instance* self, davit_str id) {
  (void)self;
  return equal(id, str(DAVIT_KIND)) ? &kind : NULL;
}

const davit_plugin* davit_plugin_entry_v1(uint32_t host_abi_minor, davit_error* error) {
  static davit_plugin plugin;
  (void)host_abi_minor;
  (void)error;
  describe_plugin(&plugin, "notes that become ConfigMaps");
  plugin.create = create;
  plugin.destroy = destroy;
  plugin.query = query;
  return &plugin;
}
