// A call served over HTTP: ServedCall's rules on top of a stream, in the terms the caller asked
// for. What plugins ask for from any thread is done on the connection's; there everything below
// happens.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <string>

#include "../open_calls.hpp"
#include "../request_bytes.hpp"
#include "../served_call.hpp"
#include "envelope.hpp"
#include "http_stream.hpp"
#include "loop.hpp"
#include "request_head.hpp"
#include "write_queue.hpp"

namespace davit::host {

class Admission;
class Connection;
class JsonForm;
class Log;

// What the calls of one server share; outlives them.
struct ConnectServing {
  OpenCalls open;
  RequestBytes& requests;
  const Admission* admission = nullptr;
  std::string server;
  bool gzip = false;  // answers, for callers that take it
  Log* log = nullptr;
};

class ConnectServedCall final : public ServedCall, private HttpStream::Events {
 public:
  struct Came {
    std::shared_ptr<HttpStream> stream;
    std::shared_ptr<Loop> loop;  // of the connection
    std::weak_ptr<Connection> on;
    Terms terms;
    const JsonForm* json = nullptr;  // NULL: binary
    Pairs metadata;                  // what is for the method
    std::string peer;
    std::string whose;                       // requests they are; empty: not known
    OpenCalls::Connection* place = nullptr;  // left when the call is over
  };
  ConnectServedCall(ConnectServing&, const Method&, IdentityPtr, Came);
  ~ConnectServedCall() override;
  // From now on it may be told that the stream is over. Before `offer`.
  void begin();

  davit_str metadata(davit_str key) const override;
  davit_str peer() const override { return str(came_.peer); }
  int64_t deadline_ns() const override;

 private:
  // ServedCall, from any thread
  void start_read() override;
  bool start_write(davit_buf* const* parts, size_t parts_count, bool last) override;
  void send_end(End&) override;
  void misused(const char* what) override;
  void drop_connection() override;
  void on_taken() override { share_.taken(); }

  // HttpStream::Events
  void on_body() override;
  void on_sent() override;
  void on_over(const std::string& why) override;

  // Runs on the connection's thread, and keeps the call until then.
  template <class Work>
  void later(Work);
  void read_on();
  // What waits here of the request, and what has been announced of it.
  size_t held() const;
  void count_held();
  // nullopt: it has not come yet; no buffer: no more will.
  using Next = std::optional<Result<Buffer>>;
  Next next_message();
  Next next_body();
  Result<Buffer> opened(Envelope) const;
  static Result<Buffer> one_request(const char* what);
  Result<Buffer> readable(std::string message, bool compressed) const;
  void fail(const Error&);
  // The message in the encodings that were agreed upon, in its envelope.
  Result<Outgoing> sendable(Buffer message) const;
  void write_on();
  void write_head();
  void write_end(End);
  void write_body(const End&, const std::optional<Outgoing>& last);
  void answer(const HttpAnswer&);
  bool compresses() const { return serving_.gzip && came_.terms.accepts_gzip; }
  bool one_body() const { return came_.terms.wire == Wire::connect_unary; }

  ConnectServing& serving_;
  Came came_;
  const Loop::Work work_;
  EnvelopeReader reader_;
  RequestBytes::Share share_;
  WriteQueue queue_;
  std::string body_;       // unary: what has come of it
  size_t body_bytes_ = 0;  // how much
  size_t announced_ = 0;   // its length, when it was said
  boost::asio::steady_timer deadline_;
  Buffer answer_;          // kept for the end; under ServedCall's mutex
  bool expected_ = false;  // a request, by OpenCalls; under the mutex
  Pairs headers_;          // for the head of the answer
  const std::chrono::steady_clock::time_point came_at_ = std::chrono::steady_clock::now();
  bool wants_ = false;   // a read is granted
  Buffer only_;          // the one request, until it is seen that nothing follows
  bool given_ = false;   // it was given to the method
  bool failed_ = false;  // nothing is read any more
  bool head_sent_ = false, end_sent_ = false, over_ = false;
};

}  // namespace davit::host
