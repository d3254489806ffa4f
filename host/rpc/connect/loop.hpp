// Loop is one thread of a ConnectServer, and the connections that live on it.
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
  // Hold one to post from another thread: while it exists, everything that is posted runs.
  using Work = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  Loop() : work_(io_.get_executor()) {}

  boost::asio::io_context& io() { return io_; }
  Work work() { return Work(io_.get_executor()); }
  // Call `stop` or `leave` afterwards, once and not from the loop's thread.
  void start();
  // Waits until no Work is left and everything posted has run.
  void stop();
  // Like `stop` without waiting: the thread ends by itself, and the loop is destroyed with it.
  void leave();

  // Number of connections, including those that are being handed over. Any thread.
  std::atomic<size_t> load{0};

  // Used only on the loop's thread.
  std::unordered_set<std::shared_ptr<Connection>> connections;
  bool closing = false;  // takes no more connections

 private:
  // One thread runs it. It is not built with Asio's concurrency hint 1 for that case: then handlers
  // that this thread posts would run after handlers that other threads post later.
  boost::asio::io_context io_;
  Work work_;
  std::thread thread_;
};

}  // namespace davit::host
