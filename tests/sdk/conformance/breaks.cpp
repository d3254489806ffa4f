// A plugin that breaks what its process lives by. BREAKS in the environment says how. Without it
// the plugin is in order: a gate that opens at once.
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <unistd.h>

#include <davit/gate.hpp>

namespace {

bool breaks(std::string_view how) {
  const char* wanted = std::getenv("BREAKS");
  return wanted != nullptr && how == wanted;
}

class Breaks {
 public:
  using roles = davit::Roles<davit::gate::Role>;
  explicit Breaks(davit::Host) {
    if (breaks("exits_in_create")) _exit(0);
    while (breaks("hangs_in_create")) pause();
    if (breaks("exits_at_the_end")) std::atexit([] { _exit(3); });
    if (breaks("leaks")) leak();
  }
  ~Breaks() {
    if (breaks("dies_in_destroy")) std::raise(SIGSEGV);
  }
  davit::Result<> stop(const davit::Op&) {
    if (breaks("throws_in_stop")) throw std::runtime_error("a bug in stop");
    return {};
  }
  void wait(davit::gate::Opened opened) { opened(1); }

 private:
  static void leak() {
    static char* volatile lost = nullptr;
    lost = new char[100];
    if (lost != nullptr) lost = nullptr;
  }
};

const davit_plugin* right() {
  return davit::detail::Plugin<Breaks>::entry("breaks", DAVIT_PLUGIN_VERSION, "breaks on demand");
}

const void* broken_table(davit_instance* self, davit_str id) {
  static davit_gate table{sizeof table, 0, nullptr};
  if (breaks("short_table")) table.struct_size = 8;
  return davit::view(id) == DAVIT_GATE ? &table : right()->query(self, id);
}

}  // namespace

extern "C" DAVIT_EXPORT const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*) {
  static davit_plugin plugin = *right();
  if (breaks("dies_in_entry")) std::raise(SIGSEGV);
  if (breaks("short_plugin")) plugin.struct_size = 24;
  if (breaks("null_create")) plugin.create = nullptr;
  if (breaks("null_slot") || breaks("short_table")) plugin.query = &broken_table;
  if (breaks("no_instance")) {
    plugin.create = [](const davit_host*, davit_instance** out, davit_error*) {
      *out = nullptr;
      return int32_t{DAVIT_OK};
    };
  }
  return &plugin;
}
