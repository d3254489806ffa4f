#include <sys/prctl.h>
#include <sys/resource.h>

#include <cstdio>

#include <sodium.h>

#include "command_line.hpp"
#include "exit_codes.hpp"

int main(int argc, char** argv) {
  // Neither a core dump nor another process of the same user gets at what this one has in memory.
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::prctl(PR_SET_DUMPABLE, 0);
  if (sodium_init() < 0) {
    std::fputs("davit-seal: libsodium cannot be used: it finds no random numbers\n", stderr);
    return davit::secrets_file::seal_exit_failed;
  }
  return davit::secrets_file::run_seal({argv + 1, argv + argc});
}
