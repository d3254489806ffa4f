/* What the plugins of this folder share. They are written as a stranger writes one who has the
 * frozen copy of the ABI and libc: test_frozen.py builds each with gcc and with clang, and sees no
 * other header. */
#ifndef FROZEN_PLUGIN_H
#define FROZEN_PLUGIN_H

#include <davit/abi.h>
#include <davit/abi/secrets.h>
#include <stdio.h>
#include <string.h>

#define KNOWN_FLAGS(flags, known) (((flags)&DAVIT_FLAGS_CRITICAL & ~(uint32_t)(known)) == 0)

static inline davit_str str(const char* text) {
  davit_str out;
  out.ptr = text;
  out.len = strlen(text);
  return out;
}

static inline int equal(davit_str a, davit_str b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline int32_t fail(davit_error* error, int32_t code, const char* where, const char* text) {
  error->code = code;
  snprintf(error->where, sizeof error->where, "%s", where);
  snprintf(error->message, sizeof error->message, "%s", text);
  return code;
}

/* One line of the log: the message and one number. */
static inline void say(const davit_host* host, const char* message, const char* name,
                       uint64_t value) {
  const davit_log* log = (const davit_log*)host->query(host, str(DAVIT_LOG));
  char text[24];
  davit_pair field;
  snprintf(text, sizeof text, "%llu", (unsigned long long)value);
  field.key = str(name);
  field.value = str(text);
  log->write(host, DAVIT_LOG_INFO, str(message), &field, 1);
}

/* Looks up the instance that the setting `key` has named. */
static inline int32_t look_up(const davit_host* host, davit_str named, const char* role,
                              davit_ref* out, davit_error* error) {
  const davit_lookup* lookup = (const davit_lookup*)host->query(host, str(DAVIT_LOOKUP));
  return lookup->find(host, named, str(role), out, error);
}

/* A setting that is a text; empty when it is absent. */
static inline davit_str setting(const davit_host* host, const char* key) {
  const davit_config* config = (const davit_config*)host->query(host, str(DAVIT_CONFIG));
  const davit_config_node* node = config->get(config->root(host), str(key));
  if (node == NULL || config->type(node) != DAVIT_CONFIG_STRING) return str("");
  return config->string(node);
}

/* What every entry has in common. The rest of it is zero. */
static inline void describe_plugin(davit_plugin* plugin, const char* summary) {
  plugin->struct_size = sizeof *plugin;
  plugin->abi_minor = DAVIT_ABI_MINOR;
  plugin->name = str(DAVIT_PLUGIN_NAME);
  plugin->version = str(DAVIT_PLUGIN_VERSION);
  plugin->summary = str(summary);
}

#endif
