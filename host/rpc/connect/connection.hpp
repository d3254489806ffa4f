// Connection drives one connection: it passes bytes from the link to the HTTP session and back. It
// closes the connection of a peer that does not get as far as HTTP, does not answer, or does not
// take what it is sent. Servers and clients use it. On the link's thread.
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
  // How long the connection waits for its peer.
  struct Patience {
    std::chrono::milliseconds begin{10'000};     // until the session has begun
    std::chrono::milliseconds interval{30'000};  // of silence before the peer is asked
    std::chrono::milliseconds timeout{10'000};   // for its answer, and for taking what it is sent
    std::chrono::milliseconds rest{0};           // without a stream; 0: no limit
    std::chrono::milliseconds first{0};          // the same for an unknown peer
  };
  // Chooses the session by the first bytes. NULL means that more bytes are needed, or, with
  // `refused`, that the connection is to be closed.
  using Choose = std::function<std::unique_ptr<HttpSession>(std::string_view begin, bool& refused)>;
  // Called once, last: the connection is closed and has no streams left. `strange` means that the
  // TLS handshake failed because of what the peer sent.
  using Closed = std::function<void(const std::string& why, bool strange)>;

  // `ready` is called when the session is there.
  Connection(std::unique_ptr<Link>, Patience, Choose, Closed, std::function<void()> ready = {});
  ~Connection();

  void start();
  // Says that there is something to send. It is sent later, once for any number of calls.
  void wake();
  // Call at least once a second.
  void tick(std::chrono::steady_clock::time_point now);
  void go_away();
  bool is_leaving() const { return leaving_; }
  // A caller with credentials has called over this connection.
  void know() { known_ = true; }
  // Whether the connection is over a second old, has no open stream, and no caller with credentials
  // has called over it. Such connections are closed first when there is no room.
  bool is_idle_stranger(std::chrono::steady_clock::time_point now) const;
  void close(const std::string& why);
  // NULL before the first bytes have shown the protocol.
  HttpSession* session() const { return session_.get(); }
  Link& link() { return *link_; }

 private:
  using Time = std::chrono::steady_clock::time_point;
  void shaken(boost::system::error_code);
  void read();
  void received(boost::system::error_code, size_t);
  bool feed(std::string_view bytes);
  void pump();
  void wrote(boost::system::error_code);

  const std::unique_ptr<Link> link_;
  const Patience patience_;
  const Choose choose_;
  Closed closed_;
  const std::function<void()> ready_;
  std::unique_ptr<HttpSession> session_;
  std::string begin_;  // bytes from before the session
  std::array<char, 16u << 10> in_;
  std::string out_;  // being written
  bool woken_ = false, reading_ = false, writing_ = false, leaving_ = false, ending_ = false;
  bool known_ = false, strange_ = false;
  Time since_, heard_, asked_, writing_since_, idle_since_;
};

}  // namespace davit::host
