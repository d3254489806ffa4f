#include "private_process.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

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

void bind_libraries_early() {
  constexpr const char* variable = "LD_BIND_NOW";
  if (std::getenv(variable) != nullptr) return;
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> line;
  for (std::string word; std::getline(words, word, '\0');) line.push_back(word);
  words.close();  // otherwise the program that begins has it, too
  std::vector<char*> arguments;
  for (std::string& word : line) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  // Under its own name: as /proc/self/exe it would be called "exe" in lists of processes.
  std::array<char, PATH_MAX> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) return;
  ::setenv(variable, "1", 1);
  ::execv(program.data(), arguments.data());
}

}  // namespace davit::host
