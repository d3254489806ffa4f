#include "private_process.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace davit::host {

void keep_files_private() {
  constexpr mode_t others = 0077;
  ::umask(others);
}

// The limit alone has no effect if the kernel pipes dumps to a program.
void forbid_core_dumps() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_CORE, &limit) == 0) {
    limit.rlim_cur = 0;
    ::setrlimit(RLIMIT_CORE, &limit);
  }
  ::prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace davit::host
