// HttpStream is one request and its answer on an HTTP connection, at either end, in any version:
// heads, bodies in pieces, trailers. HttpSession is the connection without its socket. Calls use
// the stream; Connection drives the session. Everything happens on the connection's thread.
#pragma once

#include <charconv>
#include <memory>
#include <string>
#include <vector>

#include <davit/types.hpp>

#include "outgoing.hpp"

namespace davit::host {

class HttpStream {
 public:
  // The events for the user of a stream. They are never raised from within a method of the stream,
  // and may call the stream.
  class Events {
   public:
    // Calling end: the head of the answer has arrived.
    virtual void on_head() {}
    // Bytes can be taken, or the peer's body has ended.
    virtual void on_body() = 0;
    // Everything given to `send` was written. The next may follow.
    virtual void on_sent() = 0;
    // The stream is over: no event follows, and it must not be used any more. `why` is empty if
    // both sides have said everything.
    virtual void on_over(const std::string& why) = 0;

   protected:
    ~Events() = default;
  };

  virtual ~HttpStream() = default;

  // Sends events to `events` from now on. What arrived earlier can be asked for.
  virtual void listen(Events*) = 0;

  // The peer's head, in the order of the wire, with keys in lower case. Pseudo headers (":path",
  // ":status") as in HTTP/2.
  virtual const Pairs& head() const = 0;
  // The body's length as the head states it. 0 if it does not.
  size_t announced_bytes() const {
    size_t out = 0;
    for (const auto& [key, value] : head()) {
      if (key == "content-length") std::from_chars(value.data(), value.data() + value.size(), out);
    }
    return out;
  }
  virtual int http_major() const = 0;
  virtual const Pairs& trailers() const = 0;
  // Takes the part of the body that has arrived. The peer may then send more.
  virtual std::string take() = 0;
  virtual bool body_ended() const = 0;
  // How many bytes `take` would return.
  virtual size_t waiting() const = 0;

  // Sends the head; once, before anything else. With `last` there is no body. At the serving end
  // the rest of the peer's body is discarded once this side has ended, here or by `end`.
  virtual void send_head(const Pairs& head, bool last) = 0;
  virtual void send(std::vector<Outgoing> pieces) = 0;
  void send(std::string bytes) {
    std::vector<Outgoing> pieces(1);
    pieces.front().body = Buffer::of(std::move(bytes));
    send(std::move(pieces));
  }
  // Ends this side. HTTP/1.1 drops the trailers.
  virtual void end(const Pairs& trailers) = 0;
  // Ends the stream abruptly. HTTP/1.1 closes the connection.
  virtual void reset() = 0;
};

// An HTTP connection without its socket: bytes in, bytes out.
class HttpSession {
 public:
  virtual ~HttpSession() = default;

  // Takes received bytes. False if the peer broke the protocol. What is left to send (the reason)
  // is then sent, and the connection is closed.
  virtual bool receive(std::string_view bytes) = 0;
  // The peer has sent what every peer begins with.
  virtual bool is_begun() const { return true; }
  // Enough bytes wait to be taken. The socket is not to be read for now.
  virtual bool is_full() const { return false; }
  // Appends what is to be written next. Not again before `written`.
  virtual void give(std::string& out) = 0;
  // What was given last was written to the socket.
  virtual void written() = 0;
  // Nothing more will be read or written.
  virtual bool is_over() const = 0;
  // The connection is lost. Every stream is over.
  virtual void lost(const std::string& why) = 0;
  // Takes no new streams. The existing ones go on.
  virtual void go_away() = 0;
  virtual size_t streams() const = 0;
  // Call about once a second.
  virtual void tick() {}
  // Asks the peer whether it is there. False if the protocol has no way to ask.
  virtual bool ping() { return false; }
};

}  // namespace davit::host
