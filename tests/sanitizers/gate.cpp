// sanitizer_gate PLUGIN FAULT: loads the plugin as the host does and lets it commit the fault.
#include <cstdio>

#include <davit/testing/module.hpp>

int main(int argc, char** argv) {
  using namespace davit::testing;
  if (argc != 3) return 2;
  const auto loaded = Loaded::open(argv[1]);
  if (!loaded.ok()) {
    std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
    return 2;
  }
  TestHost host("planted_faults", {{"fault", argv[2]}});
  Instance instance(loaded->plugin(), host);
  const auto up = instance.up();
  if (!up.ok()) {
    std::fprintf(stderr, "%s\n", up.error().message.c_str());
    return 2;
  }
  std::printf("nothing was reported\n");
  return 0;
}
