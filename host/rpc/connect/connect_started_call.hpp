// ConnectStartedCall is a call made over Connect: the rules of StartedCall on top of a
// CalledStream. What the plugin asks for is posted to the connection's thread. ConnectClient makes
// one for each call.
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "../started_call.hpp"
#include "called_stream.hpp"

namespace davit::host {

class ConnectClient;

class ConnectStartedCall final : public StartedCall, public CalledStream::Told {
 public:
  ConnectStartedCall(ConnectClient&, Callbacks, std::string path);
  // `ask` describes the request. Returns the stream, which is to be attached to a connection.
  std::shared_ptr<CalledStream> start(CalledStream::Ask ask);

 private:
  // StartedCall
  void start_read() override;
  void start_write(davit_buf* const* parts, size_t parts_count) override;
  void start_half_close() override;
  void start_cancel() override;
  void let_go() override;
  void destroy() override;
  void misused(const char* what) override;
  // CalledStream::Told
  void on_answer_head(Pairs head) override;
  void on_answer(Buffer message, bool ok) override { on_read(std::move(message), ok); }
  void on_request_written(bool ok) override { on_written(ok); }
  void on_call_ended(End) override;

  template <class Work>
  void later(Work);

  ConnectClient& client_;
  const std::string path_;
  std::shared_ptr<CalledStream> stream_;
};

}  // namespace davit::host
