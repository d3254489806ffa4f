#include "loop.hpp"

#include <pthread.h>

#include "connection.hpp"

namespace davit::host {

void Loop::start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "connect");
    io_.run();
  });
}

void Loop::stop() {
  if (!thread_.joinable()) return;
  io_.stop();
  thread_.join();
}

}  // namespace davit::host
