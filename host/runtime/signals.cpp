#include "signals.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace davit::host {
namespace {

sigset_t kept() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

void Signals::keep() {
  const sigset_t signals = kept();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

Signals::Signals(std::function<void(int)> heard) : heard_(std::move(heard)) {
  const sigset_t signals = kept();
  signals_ = ::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
  end_ = ::eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || end_ < 0) {
    throw std::system_error(errno, std::generic_category(), "signalfd");
  }
  thread_ = std::thread(&Signals::listen, this);
}

Signals::~Signals() {
  const uint64_t one = 1;
  if (::write(end_, &one, sizeof one) == sizeof one) thread_.join();
  if (thread_.joinable()) thread_.detach();
  ::close(signals_);
  ::close(end_);
}

void Signals::listen() {
  ::pthread_setname_np(::pthread_self(), "signals");
  std::array<pollfd, 2> wait{{{signals_, POLLIN, 0}, {end_, POLLIN, 0}}};
  while (::poll(wait.data(), wait.size(), -1) >= 0 || errno == EINTR) {
    if (wait[1].revents != 0) return;
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) == sizeof info)
      heard_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace davit::host
