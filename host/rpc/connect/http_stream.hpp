// One request and its answer on an HTTP connection, at either end and whatever the version: heads,
// bodies that come and go in pieces, trailers. Everything here happens on the thread of the
// connection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <davit/types.hpp>

#include "outgoing.hpp"

namespace davit::host {

class HttpStream {
 public:
  // What the user of a stream is told; never from within a method of the stream. What they do may
  // call the stream.
  class Events {
   public:
    // Calling end: the head of the answer is there.
    virtual void on_head() {}
    // There are bytes to take, or the peer's body has ended.
    virtual void on_body() = 0;
    // All that was given to `send` is on its way: the next may come.
    virtual void on_sent() = 0;
    // Nothing follows, and the stream is not to be used any more. `why` is empty when both sides
    // have said all there was to say.
    virtual void on_over(const std::string& why) = 0;

   protected:
    ~Events() = default;
  };

  virtual ~HttpStream() = default;

  // From now on; what has come before is there to be asked for.
  virtual void listen(Events*) = 0;

  // The peer's head, in the order of the wire, keys in lower case; pseudo headers (":path",
  // ":status") as HTTP/2 has them.
  virtual const Pairs& head() const = 0;
  virtual int http_major() const = 0;
  virtual const Pairs& trailers() const = 0;
  // What has come of the body and was not taken. Taking lets the peer send more.
  virtual std::string take() = 0;
  virtual bool body_ended() const = 0;
  // Bytes that `take` would give.
  virtual size_t waiting() const = 0;

  // Once, before anything else. With `last` there is no body. Serving end: what still comes of the
  // peer's body is dropped once there is an end, here or by `end`.
  virtual void send_head(const Pairs& head, bool last) = 0;
  virtual void send(std::vector<Outgoing> pieces) = 0;
  void send(std::string bytes) {
    std::vector<Outgoing> pieces(1);
    pieces.front().body = Buffer::of(std::move(bytes));
    send(std::move(pieces));
  }
  // No more of this side. HTTP/1.1 has no room for trailers; they are dropped.
  virtual void end(const Pairs& trailers) = 0;
  // Over, without an end. HTTP/1.1 closes the connection.
  virtual void reset() = 0;
};

// An HTTP connection without its socket: bytes in, bytes out.
class HttpSession {
 public:
  virtual ~HttpSession() = default;

  // False: the peer broke the protocol; what is still to send (the reason) is sent, then the
  // connection is closed.
  virtual bool receive(std::string_view bytes) = 0;
  // The peer has said what every peer begins with.
  virtual bool is_begun() const { return true; }
  // Enough is waiting to be taken: the socket is to be read no further for now.
  virtual bool is_full() const { return false; }
  // Appends what is to be written next; not again before `written`.
  virtual void give(std::string& out) = 0;
  // What was given last has gone into the socket.
  virtual void written() = 0;
  // Nothing will be read or written any more.
  virtual bool is_over() const = 0;
  // The connection is lost: every stream is over.
  virtual void lost(const std::string& why) = 0;
  // No new streams; those that are there go on.
  virtual void go_away() = 0;
  virtual size_t streams() const = 0;
  // About once a second.
  virtual void tick() {}
  // A question that every peer answers, if the protocol has one.
  virtual bool ping() { return false; }
};

}  // namespace davit::host
