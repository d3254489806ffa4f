#include "connect_started_call.hpp"

#include <boost/asio/post.hpp>

namespace davit::host {

ConnectStartedCall::ConnectStartedCall(boost::asio::any_io_executor executor, Caller& caller,
                                       std::string path, Callbacks callbacks)
    : call_(caller, std::move(path), std::move(callbacks), *this), executor_(std::move(executor)) {}

std::shared_ptr<CalledStream> ConnectStartedCall::start(CalledStream::CallRequest request) {
  const auto stream = stream_ = std::make_shared<CalledStream>(executor_, std::move(request), this);
  later([](CalledStream& s) { s.begin(); });
  call_.begin();
  return stream;
}

// The stream may outlive the call. It knows when nobody observes it any more.
template <class Work>
void ConnectStartedCall::later(Work work) {
  boost::asio::post(executor_,
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

}  // namespace davit::host
