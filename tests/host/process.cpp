#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

extern char** environ;

namespace davit::test {
namespace fs = std::filesystem;

Folder::Folder() {
  std::string pattern = (fs::temp_directory_path() / "davit-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
  path_ = pattern;
}
Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}
std::string Folder::write(const std::string& name, const std::string& content) const {
  const fs::path path = fs::path(path_) / name;
  fs::create_directories(path.parent_path());
  std::ofstream(path) << content;
  return path.string();
}

Process::Process(std::vector<std::string> arguments, const char* output) {
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0)
    throw std::runtime_error("pipe2");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  if (output != nullptr)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, err[1], STDERR_FILENO);
  arguments.insert(arguments.begin(), DAVIT);
  std::vector<char*> argv;
  for (std::string& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  const int failed = ::posix_spawn(&pid_, DAVIT, &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(out[1]);
  ::close(err[1]);
  out_fd_ = out[0];
  err_fd_ = err[0];
  if (failed != 0) throw std::runtime_error("posix_spawn");
}

Process::~Process() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  for (int fd : {out_fd_, err_fd_}) {
    if (fd >= 0) ::close(fd);
  }
}

bool Process::read_some(int timeout_ms) {
  pollfd fds[2] = {{out_fd_, POLLIN, 0}, {err_fd_, POLLIN, 0}};
  if (::poll(fds, 2, timeout_ms) <= 0) return out_fd_ >= 0 || err_fd_ >= 0;
  for (auto [fd, text] : {std::pair(&out_fd_, &out_), std::pair(&err_fd_, &err_)}) {
    const pollfd& polled = fds[fd == &out_fd_ ? 0 : 1];
    if (polled.revents == 0) continue;
    char buffer[4096];
    const ssize_t n = ::read(*fd, buffer, sizeof buffer);
    if (n > 0) {
      text->append(buffer, static_cast<size_t>(n));
    } else {
      ::close(*fd);
      *fd = -1;
    }
  }
  return out_fd_ >= 0 || err_fd_ >= 0;
}

bool Process::wait_for_line(const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (err_.find(text) == std::string::npos) {
    if (std::chrono::steady_clock::now() > deadline || !read_some(100))
      return err_.find(text) != std::string::npos;
  }
  return true;
}

void Process::signal(int number) const {
  ::kill(pid_, number);
}

int Process::wait() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (read_some(100)) {
    if (std::chrono::steady_clock::now() > deadline) ::kill(pid_, SIGKILL);
  }
  int status = 0;
  ::waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace davit::test
