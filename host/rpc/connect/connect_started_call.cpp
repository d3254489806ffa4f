#include "connect_started_call.hpp"

#include <boost/asio/post.hpp>

#include "connect_client.hpp"

namespace davit::host {

ConnectStartedCall::ConnectStartedCall(ConnectClient& client, Callbacks callbacks, std::string path)
    : StartedCall(std::move(callbacks)), client_(client), path_(std::move(path)) {}

std::shared_ptr<CalledStream> ConnectStartedCall::start(CalledStream::Ask ask) {
  stream_ = std::make_shared<CalledStream>(client_.executor(), std::move(ask), this);
  later([](CalledStream& s) { s.begin(); });
  begin();
  return stream_;
}

// The stream may outlive the call. It knows when nobody is left to tell.
template <class Work>
void ConnectStartedCall::later(Work work) {
  boost::asio::post(client_.executor(),
                    [stream = stream_, work = std::move(work)]() mutable { work(*stream); });
}

void ConnectStartedCall::start_read() {
  later([](CalledStream& s) { s.read(); });
}

void ConnectStartedCall::start_write(davit_buf* const* parts, size_t parts_count) {
  std::string message;
  for (size_t i = 0; i < parts_count; ++i) message += Buffer(parts[i]).view();
  later([message = std::move(message)](CalledStream& s) mutable { s.write(std::move(message)); });
}

void ConnectStartedCall::start_half_close() {
  later([](CalledStream& s) { s.half_close(); });
}

void ConnectStartedCall::start_cancel() {
  later([](CalledStream& s) { s.cancel(); });
}

void ConnectStartedCall::let_go() {
  later([](CalledStream& s) { s.let_go(); });
}

void ConnectStartedCall::destroy() {
  client_.ended(this);
  delete this;
}

void ConnectStartedCall::misused(const char* what) {
  client_.log_misuse(path_, what);
}

void ConnectStartedCall::on_answer_head(Pairs head) {
  client_.caller().is_answered();
  on_headers(std::move(head));
}

void ConnectStartedCall::on_call_ended(End end) {
  client_.caller().describe(end);
  on_ended(std::move(end));
}

}  // namespace davit::host
