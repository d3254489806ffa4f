// CalledStream is the HTTP side of a ConnectStartedCall. It turns messages into a Connect request,
// and the answer into messages and an end, which it reports as on_... events. On the connection's
// thread.
#pragma once

#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <optional>
#include <string>

#include <davit/types.hpp>

#include "../end.hpp"
#include "envelope.hpp"
#include "http_stream.hpp"

namespace davit::host {

class CalledStream final : public std::enable_shared_from_this<CalledStream>,
                           private HttpStream::Events {
 public:
  // Gets the events. No event follows on_call_ended.
  class Observer {
   public:
    virtual void on_answer_head(Pairs) = 0;
    virtual void on_answer(Buffer message, bool ok) = 0;
    virtual void on_request_written(bool ok) = 0;
    virtual void on_call_ended(End) = 0;

   protected:
    ~Observer() = default;
  };
  // A request to make.
  struct CallRequest {
    Pairs head;
    bool streams = false;  // messages in envelopes; false: one body
    uint32_t answer_bytes_max = 0;
    std::optional<std::chrono::steady_clock::time_point> deadline;
  };

  CalledStream(boost::asio::any_io_executor, CallRequest, Observer*);

  const Pairs& head() const { return request_.head; }
  bool is_wanted() const { return !end_; }
  // The connection is there. What was given so far is sent.
  void attach(std::shared_ptr<HttpStream>);
  // Ends the call, for example because the connection is lost.
  void fail(End);

  void begin();  // starts the timer of the deadline
  void read();
  void write(std::string message);
  void half_close();
  void cancel();
  void let_go();

 private:
  void on_head() override;
  void on_body() override { read_on(); }
  void on_sent() override;
  void on_over(const std::string& why) override;

  void read_on();
  bool read_message();
  bool read_body();
  void give(Result<std::string> message);
  Result<std::string> plain(std::string message, bool compressed) const;
  void end(End);
  void report_end();
  void finish_if_done();

  const CallRequest request_;
  Observer* observer_;  // NULL once on_call_ended was raised
  std::shared_ptr<HttpStream> stream_;
  boost::asio::steady_timer deadline_;
  EnvelopeReader reader_;
  std::optional<std::string> early_;  // written before there was a connection
  bool half_closed_ = false, writing_ = false, wants_ = false, let_go_ = false;
  int status_ = 0;           // 0 until the head has arrived
  bool compressed_ = false;  // messages may be compressed
  bool error_body_ = false;  // the body is an error
  std::string body_;
  Pairs trailers_;  // of a unary answer
  std::optional<End> end_;
};

}  // namespace davit::host
