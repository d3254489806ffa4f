#include "killed.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace davit::conformance {
namespace {

using std::chrono::steady_clock;

// A child that does not come so far is killed all the same.
constexpr std::chrono::seconds kill_patience{60};

std::vector<std::string> command_of(const std::string& program,
                                    const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"davit-conformance"};
  if (!subject().config_file.empty())
    words.insert(words.end(), {"--config", subject().config_file});
  words.insert(words.end(), {"--seed", std::to_string(random_seed()), "--child", program});
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(subject().plugin.path());
  return words;
}

// Reads what the child writes until its end, or kills it when its time has come. What the child has
// started may have its output still open afterwards: nobody waits for that.
std::string read_and_kill(pid_t child, int from, const Life& life) {
  std::string told;
  char buffer[65536];
  std::optional<steady_clock::time_point> until;
  const auto late = steady_clock::now() + kill_patience;
  bool killed = false;
  fcntl(from, F_SETFL, O_NONBLOCK);
  while (true) {
    const ssize_t n = read(from, buffer, sizeof buffer);
    if (n > 0) {
      told.append(buffer, static_cast<size_t>(n));
      if (!until && life.has_come_far(told)) until = steady_clock::now() + life.then;
    } else if (n == 0 || killed) {
      break;
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    if (killed || steady_clock::now() < until.value_or(late)) continue;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    killed = true;
  }
  if (!killed) waitpid(child, nullptr, 0);
  return told;
}

}  // namespace

std::string run_and_kill(const std::string& program, const std::vector<std::string>& arguments,
                         const Life& life) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "E cannot make a pipe\n";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  auto words = command_of(program, arguments);
  std::vector<char*> argv;
  for (auto& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string told;
  if (failed == 0) told = read_and_kill(child, ends[0], life);
  close(ends[0]);
  return told;
}

void Teller::tell(const std::string& text) {
  const std::lock_guard lock(mutex_);
  for (size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data() + at, text.size() - at);
    if (n <= 0) _exit(1);  // the parent no longer reads
    at += static_cast<size_t>(n);
  }
}

}  // namespace davit::conformance
