#include "connect_served_call.hpp"

#include <boost/asio/post.hpp>

#include "answer.hpp"
#include "connection.hpp"
#include "end_json.hpp"
#include "gzip.hpp"
#include "json_form.hpp"
#include "unwanted.hpp"
#include "wire_metadata.hpp"

namespace davit::host {

namespace {

// Smaller messages do not shrink.
constexpr size_t gzip_from = 512;
// How much of a stream's messages may wait for the socket. Enough to keep it busy while the method
// makes more, and little for each of many peers that do not read.
constexpr size_t queue_bytes_max = 32u << 10;
// A caller ends its call at the deadline by itself, and an answer at that moment would cross its
// end. Go's HTTP/1 client may then close a connection on which its next call has begun; that call
// fails with the deadline of the previous one. So the server ends a call a little later.
constexpr auto after_the_callers_own_end = std::chrono::milliseconds(100);
// How long a caller has after its deadline to take what waits, and the end of the call. If it gives
// the stream no room, neither of them can be sent.
constexpr auto for_the_end_to_go = std::chrono::seconds(1);

uint8_t flags_known(const Terms& t) {
  return t.wire == Wire::connect_stream ? flag::compressed | flag::end_of_stream : flag::compressed;
}

// Shares the buffer of a message in one part, as all large ones are. Copies the others.
Buffer whole(davit_buf* const* parts, size_t parts_count) {
  if (parts_count == 1) return Buffer(parts[0]);
  std::string out;
  for (size_t i = 0; i < parts_count; ++i) out += Buffer(parts[i]).view();
  return Buffer::of(std::move(out));
}

}  // namespace

ConnectServedCall::ConnectServedCall(ConnectServing& serving, ServedCall::Admitted call,
                                     ServedRequest request)
    : call_(serving, std::move(call), *this),
      serving_(serving),
      request_(std::move(request)),
      work_(request_.loop->work()),
      reader_(flags_known(request_.terms), method().request_bytes_max),
      share_(serving.requests, request_.whose),
      queue_(queue_bytes_max),
      deadline_(request_.loop->io()) {
  if (one_body()) announced_ = request_.stream->announced_bytes();
  if (announced_ > method().request_bytes_max) announced_ = 0;  // its bytes will not be kept
}

template <class Work>
void ConnectServedCall::later(Work work) {
  if (!call_.try_retain()) return;
  boost::asio::post(request_.loop->io(), [this, work = std::move(work)]() mutable {
    work();
    call_.release();
  });
}

void ConnectServedCall::begin() {
  request_.stream->listen(this);
  count_held();
  if (request_.terms.timeout)
    after(*request_.terms.timeout + after_the_callers_own_end, &ConnectServedCall::on_deadline);
  call_.offer();
}

void ConnectServedCall::after(std::chrono::milliseconds time, void (ConnectServedCall::*then)()) {
  if (!call_.try_retain()) return;
  deadline_.expires_after(time);
  deadline_.async_wait([this, then](boost::system::error_code cancelled) {
    if (!cancelled && !over_) (this->*then)();
    call_.release();
  });
}

void ConnectServedCall::on_deadline() {
  call_.end_now({Code::deadline_exceeded, "the deadline has passed"});
  after(for_the_end_to_go, &ConnectServedCall::on_end_not_taken);
}

void ConnectServedCall::on_end_not_taken() {
  request_.stream->reset();
}

void ConnectServedCall::start_read() {
  later([this] {
    wants_ = true;
    read_on();
  });
}

bool ConnectServedCall::start_write(davit_buf* const* parts, size_t parts_count, bool last,
                                    const Pairs& headers) {
  Buffer message = whole(parts, parts_count);
  if (last) {
    answer_ = std::move(message);
    return false;
  }
  const auto put = queue_.put(std::move(message));
  if (!put.first) return put.room;
  later([this, sent = headers]() mutable {
    headers_ = std::move(sent);
    write_on();
  });
  return put.room;
}

void ConnectServedCall::send_end(const End& end, const Pairs& headers) {
  later([this, how = end, sent = headers]() mutable {
    headers_ = std::move(sent);
    end_sent_ = true;
    if (over_) return call_.on_ended();
    write_end(std::move(how));
  });
}

void ConnectServedCall::drop_connection() {
  boost::asio::post(request_.loop->io(), [on = request_.on] {
    if (const auto connection = on.lock()) connection->close("the caller is not known any more");
  });
}

void ConnectServedCall::on_body() {
  read_on();
}

void ConnectServedCall::on_sent() {
  if (queue_.sent()) call_.on_written(true);
}

void ConnectServedCall::on_over(const std::string&) {
  over_ = true;
  count_held();
  deadline_.cancel();
  request_.stream.reset();
  serving_.open.leave(request_.place);
  if (end_sent_) return call_.on_ended();
  call_.on_cancelled();
  read_on();
  if (queue_.close()) call_.on_written(false);
}

size_t ConnectServedCall::held() const {
  if (over_ || failed_) return 0;
  const size_t waiting = request_.stream->waiting();
  if (one_body()) return given_ ? 0 : std::max(announced_, body_.size() + waiting);
  return only_.size() + std::max(reader_.holds(), reader_.waiting() + waiting);
}

void ConnectServedCall::count_held() {
  if (auto r = share_.hold(held()); !r.ok()) fail(r.error());
}

void ConnectServedCall::read_on() {
  if (!wants_ || failed_) return count_held();
  auto next = one_body() ? next_body() : next_message();
  if (!next && !over_) return count_held();
  wants_ = false;
  if (!next) return call_.on_read({}, false);
  if (!next->ok()) return fail(next->error());
  const bool message = static_cast<bool>(**next);
  share_.pass((**next).size(), held());
  call_.on_read(std::move(**next), message);
}

// The whole body is the request.
ConnectServedCall::Next ConnectServedCall::next_body() {
  if (over_) return std::nullopt;
  if (given_) return Buffer();
  const std::string more = request_.stream->take();
  body_bytes_ += more.size();
  const size_t most = method().request_bytes_max;
  const bool ended = request_.stream->body_ended();
  if (body_bytes_ <= most) {
    body_ += more;
  } else {
    std::string().swap(body_);
    if (!ended && body_bytes_ < most + unwanted_bytes_max) return std::nullopt;
    return Result<Buffer>(
        call_.too_large((ended ? "" : "at least ") + std::to_string(body_bytes_)));
  }
  if (!ended) return std::nullopt;
  given_ = true;
  return readable(std::exchange(body_, {}), request_.terms.compressed);
}

ConnectServedCall::Next ConnectServedCall::next_message() {
  while (true) {
    if (auto envelope = reader_.next()) {
      if (const auto size = reader_.too_large())
        return Result<Buffer>(call_.too_large(std::to_string(*size)));
      if (!envelope->ok()) return Result<Buffer>(envelope->error());
      auto message = opened(std::move(**envelope));
      if (!message.ok() || method().streams_requests()) return message;
      if (std::exchange(only_, std::move(*message)))
        return one_request("more than one request message");
      continue;
    }
    if (over_) return std::nullopt;
    const std::string bytes = request_.stream->take();
    if (bytes.empty()) break;
    reader_.feed(bytes);
  }
  if (!request_.stream->body_ended()) return std::nullopt;
  if (!reader_.at_a_boundary()) {
    return Result<Buffer>(
        Error{Code::invalid_argument, "the request ends in the middle of a message"});
  }
  if (method().streams_requests()) return Buffer();
  if (!only_ && !given_) return one_request("the request message is missing");
  given_ = true;
  return std::exchange(only_, Buffer());
}

// UNIMPLEMENTED, as in gRPC: no method with such a request is offered.
Result<Buffer> ConnectServedCall::one_request(const char* what) {
  return Error{Code::unimplemented, what};
}

Result<Buffer> ConnectServedCall::opened(Envelope envelope) const {
  if ((envelope.flags & flag::end_of_stream) != 0)
    return Error{Code::invalid_argument, "a request has no end-of-stream message"};
  const bool compressed = (envelope.flags & flag::compressed) != 0;
  if (compressed && !request_.terms.compressed)
    return Error{Code::internal, "a compressed message without an encoding"};
  return readable(std::move(envelope.message), compressed);
}

Result<Buffer> ConnectServedCall::readable(std::string message, bool compressed) const {
  if (compressed && !message.empty()) {
    const uint32_t most = method().request_bytes_max;
    auto plain = gunzip(message, most);
    if (!plain.ok() && plain.error().code == Code::resource_exhausted)
      return call_.too_large("more than " + std::to_string(most) + " uncompressed");
    if (!plain.ok()) return plain.error();
    message = std::move(*plain);
  }
  if (request_.json != nullptr) {
    auto binary = request_.json->request(message);
    if (!binary.ok()) return binary.error();
    message = std::move(*binary);
  }
  return Buffer::of(std::move(message));
}

void ConnectServedCall::fail(const Error& e) {
  failed_ = true;
  (void)share_.hold(0);
  call_.end_now(End::of(e));
}

Result<Outgoing> ConnectServedCall::sendable(Buffer message) const {
  uint8_t flags = 0;
  if (request_.json != nullptr) {
    auto json = request_.json->answer(message.view());
    if (!json.ok()) return json.error();
    message = Buffer::of(std::move(*json));
  }
  if (compresses() && message.size() >= gzip_from) {
    flags |= flag::compressed;
    message = Buffer::of(gzip(message.view()));
  }
  return in_envelope(flags, std::move(message));
}

void ConnectServedCall::write_head() {
  if (std::exchange(head_sent_, true)) return;
  Pairs head{{":status", "200"}, {"content-type", request_.terms.content_type}};
  const bool connect = request_.terms.wire == Wire::connect_stream;
  if (compresses())
    head.emplace_back(connect ? "connect-content-encoding" : "grpc-encoding", "gzip");
  head.emplace_back(connect ? "connect-accept-encoding" : "grpc-accept-encoding", "gzip");
  for (auto& pair : metadata_to_wire(headers_)) head.push_back(std::move(pair));
  request_.stream->send_head(head, false);
}

// Sends everything that the method has written since the last time.
void ConnectServedCall::write_on() {
  auto messages = queue_.take();
  if (over_) return;
  std::vector<Outgoing> out;
  out.reserve(messages.size());
  for (auto& message : messages) {
    if (unsendable_) break;
    auto sent = sendable(std::move(message));
    if (sent.ok()) {
      out.push_back(std::move(*sent));
    } else {
      unsendable_ = sent.error();
    }
  }
  if (!out.empty()) {
    write_head();
    request_.stream->send(std::move(out));
  }
  if (!unsendable_) return;
  call_.end_now(End::of(*unsendable_));
  if (queue_.close()) call_.on_written(false);
}

void ConnectServedCall::write_end(End end) {
  // The method may have ended the call before its last message was found to be no good.
  if (end.code == Code::ok && unsendable_) end = End::of(*unsendable_);
  std::optional<Outgoing> last;  // the answer of a method with one answer
  if (end.code == Code::ok && answer_) {
    auto sent = sendable(std::exchange(answer_, Buffer()));
    if (sent.ok()) {
      last = std::move(*sent);
    } else {
      end = End::of(sent.error());
    }
  }
  if (one_body()) return write_body(end, last);
  // A caller would read the head of an answer without a body as trailers. So headers need a full
  // answer.
  const bool only_an_end = !head_sent_ && !last && end.code != Code::ok && headers_.empty();
  if (only_an_end) return answer(refusal(request_.terms, end));
  write_head();
  std::vector<Outgoing> out;
  if (last) out.push_back(std::move(*last));
  if (request_.terms.wire == Wire::connect_stream)
    out.push_back(in_envelope(flag::end_of_stream, Buffer::of(end_of_stream_json(end))));
  if (request_.terms.wire == Wire::grpc_web)
    out.push_back(in_envelope(flag::trailers, Buffer::of(web_trailers(end))));
  if (!out.empty()) request_.stream->send(std::move(out));
  request_.stream->end(request_.terms.wire == Wire::grpc ? grpc_trailers(end) : Pairs());
}

// A unary answer is the whole body, without an envelope.
void ConnectServedCall::write_body(const End& end, const std::optional<Outgoing>& last) {
  if (!last) {
    const bool empty = end.code == Code::ok;
    return answer(
        refusal(request_.terms, empty ? End{Code::internal, "the method gave no answer"} : end));
  }
  HttpAnswer out{
      200, {{"content-type", request_.terms.content_type}}, std::string(last->body.view())};
  out.headers.emplace_back("accept-encoding", "gzip");
  if ((last->head[0] & flag::compressed) != 0) out.headers.emplace_back("content-encoding", "gzip");
  for (const auto& [key, value] : metadata_to_wire(end.trailers))
    out.headers.emplace_back("trailer-" + key, value);
  answer(out);
}

void ConnectServedCall::answer(const HttpAnswer& a) {
  head_sent_ = true;
  HttpAnswer out = a;
  for (auto& pair : metadata_to_wire(headers_)) out.headers.push_back(std::move(pair));
  send_answer(*request_.stream, out);
}

}  // namespace davit::host
