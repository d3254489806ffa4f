#include "death.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>

#include "step.hpp"

namespace davit::host {
namespace {

struct Fatal {
  int number;
  const char* name;
};
constexpr std::array<Fatal, 6> fatal{{{SIGSEGV, "SIGSEGV"},
                                      {SIGBUS, "SIGBUS"},
                                      {SIGILL, "SIGILL"},
                                      {SIGFPE, "SIGFPE"},
                                      {SIGSYS, "SIGSYS"},
                                      {SIGABRT, "SIGABRT"}}};
std::array<struct sigaction, fatal.size()> before;
std::atomic_flag told = ATOMIC_FLAG_INIT;

// A line in a buffer of its own: a signal handler must not allocate.
class Line {
 public:
  Line& operator<<(const char* text) {
    const size_t length = std::min(std::strlen(text), text_.size() - 1 - used_);
    std::memcpy(text_.data() + used_, text, length);
    used_ += length;
    return *this;
  }
  void print() {
    text_[used_++] = '\n';
    if (::write(STDERR_FILENO, text_.data(), used_) < 0) return;  // nobody can be told
  }

 private:
  std::array<char, 512> text_{};
  size_t used_ = 0;
};

void tell(const char* how) {
  if (told.test_and_set()) return;
  Line line;
  if (const auto step = Step::here()) {
    const char* const module = step->who->module.load(std::memory_order_relaxed);
    if (*module != '\0') {
      line << module << " (instance " << step->who->instance.c_str() << ")";
    } else {
      line << step->who->instance.c_str();
    }
    line << ": died in " << step->what;
    if (step->caller != nullptr) line << ", called by " << step->caller->instance.c_str();
  } else {
    constexpr size_t thread_name_size = 16;
    std::array<char, thread_name_size> thread{};
    ::prctl(PR_GET_NAME, thread.data());
    line << "davit: died in no step of a plugin (thread " << thread.data() << ")";
  }
  line << ": " << how;
  line.print();
}

// Returns into the instruction that failed, which then fails under the handler of before. What was
// raised must be raised again: the signal stays blocked until this function returns.
void on_fatal(int number, siginfo_t* info, void*) {
  const int error = errno;
  for (size_t i = 0; i < fatal.size(); ++i) {
    if (fatal[i].number != number) continue;
    tell(fatal[i].name);
    ::sigaction(number, &before[i], nullptr);
  }
  if (info->si_code <= 0 || number == SIGABRT || number == SIGSYS) ::raise(number);
  errno = error;
}

// The host itself ends by returning from main, when no step of a plugin is under way. The other
// threads still run, so nothing more may be destroyed.
void on_end(int code, void*) {
  if (!Step::here()) return;
  tell(("it called exit(" + std::to_string(code) + ")").c_str());
  ::_exit(code);
}

}  // namespace

void tell_deaths() {
  static const bool done = [] {
    struct sigaction action {};
    action.sa_sigaction = &on_fatal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < fatal.size(); ++i) ::sigaction(fatal[i].number, &action, &before[i]);
    ::on_exit(&on_end, nullptr);
    return true;
  }();
  (void)done;
}

void death_is_told() {
  told.test_and_set();
}

}  // namespace davit::host
