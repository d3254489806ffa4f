// One thread of a server that speaks HTTP by itself, and the connections that live on it.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <thread>
#include <unordered_set>

namespace davit::host {

class Connection;

class Loop {
 public:
  Loop() : work_(io_.get_executor()) {}

  boost::asio::io_context& io() { return io_; }
  void start();
  // Ends the thread; what is posted from now on is not run. Not from that thread. Idempotent.
  void stop();

  // Connections, those on their way to it included. Any thread.
  std::atomic<size_t> load{0};

  // Its thread's.
  std::unordered_set<std::shared_ptr<Connection>> connections;
  bool closing = false;  // takes no more of them

 private:
  // One thread runs it. Not told so: what that thread posts would be overtaken by what others post.
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
};

}  // namespace davit::host
