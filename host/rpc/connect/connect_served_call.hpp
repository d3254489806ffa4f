// ConnectServedCall is the transport of a ServedCall over HTTP: it speaks on an HttpStream in the
// protocol and form that the caller chose (Terms). ConnectServer makes one for each admitted call.
// Plugins call from any thread; the work is posted to the connection's thread, where all else
// happens.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string>

#include "../request_bytes.hpp"
#include "../served_call.hpp"
#include "envelope.hpp"
#include "http_stream.hpp"
#include "loop.hpp"
#include "request_head.hpp"
#include "write_queue.hpp"

namespace davit::host {

class Connection;
class JsonForm;

struct ConnectServing : Serving {
  RequestBytes& requests;
  bool gzip;  // compress answers for callers that accept it
};

// A request to serve.
struct ServedRequest {
  std::shared_ptr<HttpStream> stream;
  std::shared_ptr<Loop> loop;  // the connection's loop
  std::weak_ptr<Connection> on;
  Terms terms;
  const JsonForm* json = nullptr;  // NULL: binary messages
  std::string whose;               // the caller whose share the request uses; empty: unknown
  OpenCalls::Connection* place = nullptr;  // left when the stream is over
};

class ConnectServedCall final : private ServedCall::Transport, private HttpStream::Events {
 public:
  ConnectServedCall(ConnectServing&, ServedCall::Admitted, ServedRequest);
  ConnectServedCall(const ConnectServedCall&) = delete;
  ConnectServedCall& operator=(const ConnectServedCall&) = delete;

  // Begins to listen to the stream, which may then report its end, and hands the call to its
  // method.
  void begin();

 private:
  ~ConnectServedCall() = default;
  // ServedCall::Transport, from any thread
  void start_read() override;
  bool start_write(davit_buf* const* parts, size_t parts_count, bool last,
                   const Pairs& headers) override;
  void send_end(const End&, const Pairs& headers) override;
  void drop_connection() override;
  void on_taken() override { share_.taken(); }
  void destroy() override { delete this; }

  // HttpStream::Events
  void on_body() override;
  void on_sent() override;
  void on_over(const std::string& why) override;

  // Runs `work` on the connection's thread. The call stays alive until then.
  template <class Work>
  void later(Work);
  // Calls `then` at that time, unless the stream is over by then. Replaces an earlier one.
  void after(std::chrono::milliseconds, void (ConnectServedCall::*then)());
  void on_deadline();
  void on_end_not_taken();
  void read_on();
  // The bytes to count for this call: those of the request that wait here, and those that were
  // announced.
  size_t held() const;
  void count_held();
  // nullopt: not there yet. No buffer: no more messages follow.
  using Next = std::optional<Result<Buffer>>;
  Next next_message();
  Next next_body();
  Result<Buffer> opened(Envelope) const;
  static Result<Buffer> one_request(const char* what);
  Result<Buffer> readable(std::string message, bool compressed) const;
  void fail(const Error&);
  // The message in its envelope, in the form and compression that were agreed on.
  Result<Outgoing> sendable(Buffer message) const;
  void write_on();
  void write_head();
  void write_end(End);
  void write_body(const End&, const std::optional<Outgoing>& last);
  void answer(const HttpAnswer&);
  bool compresses() const { return serving_.gzip && request_.terms.accepts_gzip; }
  bool one_body() const { return request_.terms.wire == Wire::connect_unary; }
  const Method& method() const { return call_.method(); }

  ServedCall call_;  // first: destroyed last, and then the server may go
  ConnectServing& serving_;
  ServedRequest request_;
  const Loop::Work work_;
  EnvelopeReader reader_;
  RequestBytes::Share share_;
  WriteQueue queue_;
  std::string body_;       // unary: what has arrived of the body
  size_t body_bytes_ = 0;  // how many bytes of the body have arrived
  size_t announced_ = 0;   // the body's announced length, or 0
  boost::asio::steady_timer deadline_;
  Buffer answer_;                    // kept for the end; guarded by ServedCall's mutex
  Pairs headers_;                    // for the head of the answer
  std::optional<Error> unsendable_;  // why a message could not be sent
  bool wants_ = false;               // a read is granted
  Buffer only_;                      // the one request, until it is known that nothing follows
  bool given_ = false;               // the request was given to the method
  bool failed_ = false;              // nothing more is read
  bool head_sent_ = false, end_sent_ = false, over_ = false;
};

}  // namespace davit::host
