// ConnectStartedCall is the transport of a StartedCall over Connect: it works on a CalledStream.
// What the plugin asks for is posted to the connection's thread. ConnectClient makes one for each
// call.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "../started_call.hpp"
#include "called_stream.hpp"

namespace davit::host {

class ConnectStartedCall final : private StartedCall::Transport, public CalledStream::Observer {
 public:
  ConnectStartedCall(boost::asio::any_io_executor, Caller&, std::string path, Callbacks);
  ConnectStartedCall(const ConnectStartedCall&) = delete;
  ConnectStartedCall& operator=(const ConnectStartedCall&) = delete;

  StartedCall& call() { return call_; }
  // Returns the stream, which is to be attached to a connection.
  std::shared_ptr<CalledStream> start(CalledStream::CallRequest);

 private:
  ~ConnectStartedCall() = default;
  // StartedCall::Transport
  void start_read() override;
  void start_write(davit_buf* const* parts, size_t parts_count) override;
  void start_half_close() override;
  void start_cancel() override;
  void let_go() override;
  void destroy() override { delete this; }
  // CalledStream::Observer
  void on_answer_head(Pairs head) override { call_.on_headers(std::move(head)); }
  void on_answer(Buffer message, bool ok) override { call_.on_read(std::move(message), ok); }
  void on_request_written(bool ok) override { call_.on_written(ok); }
  void on_call_ended(End end) override { call_.on_ended(std::move(end)); }

  template <class Work>
  void later(Work);

  StartedCall call_;
  const boost::asio::any_io_executor executor_;
  std::shared_ptr<CalledStream> stream_;
};

}  // namespace davit::host
