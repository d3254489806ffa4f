#include "called_stream.hpp"

#include "end_json.hpp"
#include "gzip.hpp"
#include "wire_metadata.hpp"

namespace davit::host {

namespace {

constexpr size_t error_bytes_max = 64u << 10;
constexpr std::string_view trailer_prefix = "trailer-";  // marks the trailers of a unary answer

std::string header(const Pairs& head, std::string_view key) {
  for (const auto& [k, value] : head) {
    if (k == key) return value;
  }
  return {};
}

}  // namespace

CalledStream::CalledStream(boost::asio::any_io_executor executor, CallRequest request,
                           Observer* observer)
    : request_(std::move(request)),
      observer_(observer),
      deadline_(std::move(executor)),
      reader_(flag::compressed | flag::end_of_stream, request_.answer_bytes_max) {}

void CalledStream::begin() {
  if (!request_.deadline) return;
  deadline_.expires_at(*request_.deadline);
  deadline_.async_wait([self = shared_from_this()](boost::system::error_code cancelled) {
    if (!cancelled) self->fail({Code::deadline_exceeded, "the deadline has passed"});
  });
}

void CalledStream::attach(std::shared_ptr<HttpStream> stream) {
  if (end_) return stream->reset();
  stream_ = std::move(stream);
  stream_->listen(this);
  if (early_) write(*std::exchange(early_, std::nullopt));
  if (half_closed_) stream_->end({});
}

void CalledStream::fail(End e) {
  const auto self = shared_from_this();
  if (auto stream = std::exchange(stream_, nullptr)) {
    stream->listen(nullptr);
    stream->reset();
  }
  end(std::move(e));
}

void CalledStream::read() {
  wants_ = true;
  read_on();
}

void CalledStream::write(std::string message) {
  writing_ = true;
  if (end_) return on_sent();
  if (!stream_) {
    early_ = std::move(message);
    return;
  }
  if (request_.streams) {
    const auto head = envelope_head(0, static_cast<uint32_t>(message.size()));
    message.insert(0, head.data(), head.size());
  }
  stream_->send(std::move(message));
}

void CalledStream::half_close() {
  half_closed_ = true;
  if (stream_) stream_->end({});
}

void CalledStream::cancel() {
  fail({Code::cancelled, "the call was cancelled"});
}

void CalledStream::let_go() {
  let_go_ = true;
  finish_if_done();
}

void CalledStream::on_sent() {
  if (std::exchange(writing_, false) && observer_ != nullptr) observer_->on_request_written(!end_);
}

void CalledStream::on_head() {
  const Pairs& head = stream_->head();
  status_ = std::atoi(header(head, ":status").c_str());
  const std::string type = header(head, "content-type");
  const std::string encoding =
      header(head, request_.streams ? "connect-content-encoding" : "content-encoding");
  compressed_ = encoding == "gzip";
  error_body_ = status_ != 200;
  Pairs headers;
  for (const auto& [key, value] : head) {
    if (key.starts_with(trailer_prefix) && !request_.streams) {
      trailers_.emplace_back(key.substr(trailer_prefix.size()), value);
    } else if (!key.starts_with(':') && !key.starts_with("connect-")) {
      headers.emplace_back(key, value);
    }
  }
  trailers_ = metadata_from_wire(trailers_);
  if (observer_ != nullptr) observer_->on_answer_head(metadata_from_wire(headers));
  if (!encoding.empty() && encoding != "identity" && !compressed_)
    return fail({Code::internal, "the answer has the unknown encoding \"" + encoding + "\""});
  const std::string expected = request_.streams ? "application/connect+proto" : "application/proto";
  if (!error_body_ && type != expected) {
    // A related type: it is a Connect server, but the answer is not what was asked for.
    const bool related =
        type.starts_with(request_.streams ? "application/connect+" : "application/");
    return fail({related ? Code::internal : Code::unknown, "the answer's content type is \"" +
                                                               type + "\" and not " + expected +
                                                               ": is this a Connect server?"});
  }
}

void CalledStream::on_over(const std::string& why) {
  const auto self = shared_from_this();
  const auto stream = stream_;
  read_on();
  // A complete answer stays until it is read.
  if (stream->body_ended()) return;
  fail({Code::unavailable, why.empty() ? "the answer is cut short" : why});
}

// Decodes a message only when one is wanted. The body of an error is read without that.
void CalledStream::read_on() {
  const auto self = shared_from_this();
  while (!end_ && status_ != 0 && stream_ && (wants_ || error_body_)) {
    const bool more = request_.streams && !error_body_ ? read_message() : read_body();
    if (!more) break;
  }
  report_end();
}

// Tells a reader that waits for a message that there is none.
void CalledStream::report_end() {
  if (end_ && std::exchange(wants_, false) && observer_ != nullptr) observer_->on_answer({}, false);
}

bool CalledStream::read_message() {
  auto next = reader_.next();
  if (!next) {
    const std::string bytes = stream_->take();
    if (!bytes.empty()) {
      reader_.feed(bytes);
      return true;
    }
    if (stream_->body_ended())
      fail({Code::internal, "the answer ends without an end-of-stream message"});
    return false;
  }
  if (!next->ok()) {
    fail(End::of(next->error()));
    return false;
  }
  const bool last = ((*next)->flags & flag::end_of_stream) != 0;
  auto message = plain(std::move((*next)->message), ((*next)->flags & flag::compressed) != 0);
  if (!last || !message.ok()) {
    give(std::move(message));
    return true;
  }
  auto e = read_end_of_stream(*message);
  fail(e.ok() ? std::move(*e) : End::of(e.error()));
  return false;
}

bool CalledStream::read_body() {
  body_ += stream_->take();
  const size_t most = error_body_ ? error_bytes_max : request_.answer_bytes_max;
  if (body_.size() > most) {
    fail({Code::resource_exhausted,
          "an answer of more than " + std::to_string(most) + " bytes is refused"});
    return false;
  }
  if (!stream_->body_ended()) return false;
  auto message = plain(std::exchange(body_, {}), compressed_);
  if (error_body_) {
    End e = read_error_json(status_, message.ok() ? *message : std::string());
    e.trailers.insert(e.trailers.end(), trailers_.begin(), trailers_.end());
    fail(std::move(e));
    return false;
  }
  give(std::move(message));
  fail({Code::ok, {}, trailers_});
  return false;
}

Result<std::string> CalledStream::plain(std::string message, bool compressed) const {
  if (!compressed || message.empty()) return message;
  if (!compressed_) return Error{Code::internal, "a compressed message without an encoding"};
  return gunzip(message, request_.answer_bytes_max);
}

void CalledStream::give(Result<std::string> message) {
  if (!message.ok()) return fail(End::of(message.error()));
  wants_ = false;
  if (observer_ != nullptr) observer_->on_answer(Buffer::of(std::move(*message)), true);
}

void CalledStream::end(End e) {
  if (end_) return;
  end_ = std::move(e);
  deadline_.cancel();
  on_sent();
  report_end();
  finish_if_done();
}

void CalledStream::finish_if_done() {
  if (!end_ || !let_go_ || observer_ == nullptr) return;
  std::exchange(observer_, nullptr)->on_call_ended(*end_);
}

}  // namespace davit::host
