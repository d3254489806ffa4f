#include "loop.hpp"

#include <pthread.h>

#include "connection.hpp"

namespace davit::host {

void Loop::start() {
  thread_ = std::thread([self = shared_from_this()] {
    pthread_setname_np(pthread_self(), "connect");
    self->io_.run();
  });
}

void Loop::stop() {
  work_.reset();
  thread_.join();
}

void Loop::leave() {
  work_.reset();
  thread_.detach();
}

}  // namespace davit::host
