#include "loop.hpp"

#include <pthread.h>

#include <boost/asio/post.hpp>

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
  work_.reset();
  boost::asio::post(io_, [this] { io_.stop(); });
  thread_.join();
  // What waits still holds this loop, which would hold what waits: a circle that nobody frees.
  io_.restart();
  io_.poll();
}

}  // namespace davit::host
