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

class Loop : public std::enable_shared_from_this<Loop> {
 public:
  // Whoever posts from another thread has one: as long as there is one, what is posted is run.
  using Work = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  Loop() : work_(io_.get_executor()) {}

  boost::asio::io_context& io() { return io_; }
  Work work() { return Work(io_.get_executor()); }
  // Then `stop` or `leave`, once and not from that thread.
  void start();
  // Waits until all work has gone and all that was posted has run.
  void stop();
  // The same without waiting: the thread ends by itself then, and this goes with it.
  void leave();

  // Connections, those on their way to it included. Any thread.
  std::atomic<size_t> load{0};

  // Its thread's.
  std::unordered_set<std::shared_ptr<Connection>> connections;
  bool closing = false;  // takes no more of them

 private:
  // One thread runs it. Not told so: what that thread posts would be overtaken by what others post.
  boost::asio::io_context io_;
  Work work_;
  std::thread thread_;
};

}  // namespace davit::host
