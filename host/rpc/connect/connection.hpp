// Drives one connection: what comes from the link goes into the session, what the session gives
// goes out. It looks after the peer, too: one that does not get as far as HTTP, does not answer, or
// does not take what it is sent loses its connection. On the link's thread.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "http_stream.hpp"
#include "link.hpp"

namespace davit::host {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Patience {
    std::chrono::milliseconds begin{10'000};     // until the session is there
    std::chrono::milliseconds interval{30'000};  // of silence, then the peer is asked
    std::chrono::milliseconds timeout{10'000};   // for its answer, and for taking what is sent
    std::chrono::milliseconds rest{0};           // without a stream; 0: as long as the peer likes
    std::chrono::milliseconds first{0};          // the same, of a peer that is not known
  };
  // What the connection speaks, by its first bytes: NULL as long as more are needed.
  using Choose = std::function<std::unique_ptr<HttpSession>(std::string_view begin, bool& refused)>;
  // Once, last: the connection is closed, and no stream of it is left. `strange`: TLS
  // could not be made with what the peer says.
  using Closed = std::function<void(const std::string& why, bool strange)>;

  // `ready`: the session is there.
  Connection(std::unique_ptr<Link>, Patience, Choose, Closed, std::function<void()> ready = {});
  ~Connection();

  void start();
  // There is something to send. Any number of times; sends later.
  void wake();
  // At least once a second.
  void tick(std::chrono::steady_clock::time_point now);
  void go_away();
  bool is_leaving() const { return leaving_; }
  // Somebody with credentials calls by it.
  void know() { known_ = true; }
  // It has been here for a while, nobody with credentials has called by it, and no stream is open:
  // the first to go when there is no room.
  bool is_idle_stranger(std::chrono::steady_clock::time_point now) const;
  void close(const std::string& why);
  // NULL before the first bytes have said what it is, and once it is closed.
  HttpSession* session() const { return session_.get(); }
  Link& link() { return *link_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  void shaken(boost::system::error_code);
  void read();
  void came(boost::system::error_code, size_t);
  bool feed(std::string_view bytes);
  void pump();
  void wrote(boost::system::error_code);

  const std::unique_ptr<Link> link_;
  const Patience patience_;
  const Choose choose_;
  Closed closed_;
  const std::function<void()> ready_;
  std::unique_ptr<HttpSession> session_;
  std::string begin_;  // what came before the session was there
  std::array<char, 16u << 10> in_;
  std::string out_;  // under way
  bool woken_ = false, reading_ = false, writing_ = false, leaving_ = false, ending_ = false;
  bool known_ = false, strange_ = false;
  Time since_, heard_, asked_, writing_since_, idle_since_;
};

}  // namespace davit::host
