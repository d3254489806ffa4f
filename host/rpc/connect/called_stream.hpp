// The HTTP side of a call that was started: makes a Connect request of its messages, and messages
// and an end of the answer. On the connection's thread; the call is told with the on_... events.
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
  // Who is told. Nothing comes after on_ended.
  class Told {
   public:
    virtual void on_answer_head(Pairs) = 0;
    virtual void on_answer(Buffer message, bool ok) = 0;
    virtual void on_request_written(bool ok) = 0;
    virtual void on_call_ended(End) = 0;

   protected:
    ~Told() = default;
  };
  struct Ask {
    Pairs head;
    bool streams = false;  // the method: one body, or messages in envelopes
    uint32_t answer_bytes_max = 0;
    std::optional<std::chrono::steady_clock::time_point> deadline;
  };

  CalledStream(boost::asio::any_io_executor, Ask, Told*);

  const Pairs& head() const { return ask_.head; }
  bool is_wanted() const { return !end_; }
  // The connection is there: what was said so far goes out.
  void attach(std::shared_ptr<HttpStream>);
  // It is not, or is lost.
  void fail(End);

  void begin();  // the deadline counts
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
  void tell_of_the_end();
  void finish_if_done();

  const Ask ask_;
  Told* told_;  // NULL: it has been told everything
  std::shared_ptr<HttpStream> stream_;
  boost::asio::steady_timer deadline_;
  EnvelopeReader reader_;
  std::optional<std::string> early_;  // written before there was a connection
  bool half_closed_ = false, writing_ = false, wants_ = false, let_go_ = false;
  int status_ = 0;           // 0: no head yet
  bool compressed_ = false;  // messages may be
  bool error_body_ = false;  // the body says what went wrong
  std::string body_;
  Pairs trailers_;  // of a unary answer
  std::optional<End> end_;
};

}  // namespace davit::host
