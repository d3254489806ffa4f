#include "vault_server.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

extern char** environ;

namespace davit::test {
namespace {

constexpr int not_installed = 127;

}  // namespace

VaultServer::VaultServer(const std::string& options) {
  int to[2], from[2];
  if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const std::string words[] = {NODE_FOLDER "/node.sh", NODE_FOLDER "/vault.mjs", options};
  char* arguments[] = {const_cast<char*>(words[0].c_str()), const_cast<char*>(words[1].c_str()),
                       const_cast<char*>(words[2].c_str()), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  const int failed = posix_spawn(&process_, arguments[0], &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  in_ = to[1];
  out_ = from[0];
  if (failed != 0) throw std::runtime_error("cannot start " + words[0]);
  const auto event = read();
  if (installed_) port_ = event.at("port").as_int64();
}

// The end of its input is its end.
VaultServer::~VaultServer() {
  close(in_);
  close(out_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

boost::json::object VaultServer::read() {
  size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    char piece[65'536];
    const ssize_t n = ::read(out_, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      int status = 0;
      waitpid(std::exchange(process_, 0), &status, 0);
      installed_ = !WIFEXITED(status) || WEXITSTATUS(status) != not_installed;
      if (!installed_) return {};
      throw std::runtime_error("vault.mjs has ended");
    }
    buffer_.append(piece, static_cast<size_t>(n));
  }
  const std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return boost::json::parse(line).as_object();
}

boost::json::object VaultServer::ask(const std::string& command) {
  const std::string line = command + "\n";
  if (write(in_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("vault.mjs takes no commands");
  for (;;) {
    auto event = read();
    if (event.contains("done")) return event;
    if (event.contains("event") && event.at("event").as_string() == "fault")
      throw std::runtime_error(boost::json::serialize(event));
  }
}

}  // namespace davit::test
