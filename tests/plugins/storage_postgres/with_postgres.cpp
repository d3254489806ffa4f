// Runs a command with a PostgreSQL beside it: `with_postgres COMMAND...`. The command finds it by
// PGHOST, PGUSER and PGDATABASE, as psql does, and PostgreSQL's programs are on its PATH. 77: none
// is installed, and a line says so.
//
// While the command runs, a file $PGHOST/ask asks for more, and is removed when it is done:
// "backup FOLDER" copies the running server's files, "restore FOLDER" brings them back.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cluster.hpp"

namespace {

constexpr int skipped = 77;

void obey(davit::test::Cluster& cluster, const std::string& ask) {
  std::string word, folder;
  std::ifstream(ask) >> word >> folder;
  if (word == "backup") cluster.back_up(folder);
  if (word == "restore") {
    cluster.stop(SIGINT);
    cluster.bring_back(folder);
    cluster.start();
  }
  std::filesystem::remove(ask);
}

int run(char** words) {
  davit::test::Cluster cluster;
  setenv("PGHOST", cluster.folder().c_str(), 1);
  setenv("PGUSER", "davit", 1);
  setenv("PGDATABASE", "postgres", 1);
  const std::string path = davit::test::Cluster::programs() + ":" + std::getenv("PATH");
  setenv("PATH", path.c_str(), 1);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(words[0], words);
    _exit(127);
  }
  const std::string ask = cluster.folder() + "/ask";
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    std::error_code none;
    // The shell that writes it has made it before.
    if (std::filesystem::exists(ask, none) && std::filesystem::file_size(ask, none) > 0)
      obey(cluster, ask);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::fprintf(stderr, "usage: with_postgres COMMAND...\n");
    return 2;
  }
  if (davit::test::Cluster::programs().empty()) {
    std::puts("skipped: PostgreSQL is not installed (packaging/install-dependencies.sh)");
    return skipped;
  }
  try {
    return run(words + 1);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "with_postgres: %s\n", e.what());
    return 1;
  }
}
