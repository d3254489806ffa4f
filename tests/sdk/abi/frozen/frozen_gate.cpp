// A gate in plain C++ that is open from the first moment. Its epoch is the time of its creation.
#include "plugin.h"

struct davit_instance {
  uint64_t epoch;
};

namespace {

int32_t create(const davit_host* host, davit_instance** out, davit_error*) {
  const auto* clock = static_cast<const davit_clock*>(host->query(host, str(DAVIT_CLOCK)));
  *out = new davit_instance{static_cast<uint64_t>(clock->unix_ns(host))};
  return DAVIT_OK;
}

void destroy(davit_instance* self) {
  delete self;
}

void wait_for(davit_instance* self, davit_gate_opened opened, void* ctx) {
  opened(ctx, self->epoch);
}

const void* query(davit_instance*, davit_str id) {
  static const davit_gate gate = {sizeof gate, 0, &wait_for};
  return equal(id, str(DAVIT_GATE)) ? &gate : nullptr;
}

}  // namespace

extern "C" const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*) {
  static davit_plugin plugin;
  describe_plugin(&plugin, "a gate that is open");
  plugin.create = &create;
  plugin.destroy = &destroy;
  plugin.query = &query;
  return &plugin;
}
