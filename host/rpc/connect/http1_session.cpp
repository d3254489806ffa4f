// Beast 1.81 asserts that a last chunk that arrives in parts has five bytes. That of an empty body
// may have four. Beast then does the right thing, so its assertions are off.
#define BOOST_DISABLE_ASSERTS

#include "http1_session.hpp"

#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/chunk_encode.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <stdexcept>

#include "ascii.hpp"
#include "unwanted.hpp"

namespace davit::host {

namespace {

namespace http = boost::beast::http;

// How much of a body may wait to be taken. Beyond that the socket is not read.
constexpr size_t body_max = 64u << 10;

std::string text_of(http::response<http::empty_body>& head) {
  http::response_serializer<http::empty_body> serializer(head);
  std::string out;
  boost::system::error_code none;
  while (!serializer.is_header_done()) {
    serializer.next(none, [&](boost::system::error_code&, const auto& buffers) {
      out += boost::beast::buffers_to_string(buffers);
      serializer.consume(boost::beast::buffer_bytes(buffers));
    });
    if (none) break;
  }
  return out;
}

}  // namespace

class Http1Session::Stream final : public HttpStream {
 public:
  explicit Stream(Http1Session& s) : session_(&s) {}

  void listen(Events* events) override { events_ = events; }
  const Pairs& head() const override { return head_; }
  int http_major() const override { return 1; }
  const Pairs& trailers() const override { return trailers_; }
  bool body_ended() const override { return ended_; }
  size_t waiting() const override { return body_.size(); }
  std::string take() override {
    std::string out = std::exchange(body_, {});
    if (session_ == nullptr) return out;
    if (std::exchange(asks_, false)) session_->out_ += "HTTP/1.1 100 Continue\r\n\r\n";
    session_->wake_();
    return out;
  }
  void send_head(const Pairs& head, bool last) override {
    if (session_ == nullptr) return;
    asks_ = false;
    http::response<http::empty_body> answer;
    answer.version(11);
    for (const auto& [key, value] : head) {
      if (key == ":status") {
        answer.result(static_cast<unsigned>(std::stoi(value)));
      } else {
        answer.insert(key, value);
      }
      sized_ = sized_ || key == "content-length";
    }
    // If a body was not read to its end, the next request cannot be told from it.
    if (!ended_) session_->last_ = true;
    if (session_->last_) answer.set(http::field::connection, "close");
    if (last && !sized_) answer.set(http::field::content_length, "0");
    if (!last && !sized_) answer.set(http::field::transfer_encoding, "chunked");
    chunked_ = !last && !sized_;
    session_->out_ += text_of(answer);
    end_ = last;
    session_->wake_();
  }
  void send(std::vector<Outgoing> pieces) override {
    if (session_ == nullptr) return;
    std::string bytes;
    for (const Outgoing& piece : pieces) {
      bytes.append(piece.head.data(), piece.head_size).append(piece.body.view());
    }
    if (chunked_) {
      session_->out_ += boost::beast::buffers_to_string(
          http::make_chunk(boost::asio::buffer(bytes.data(), bytes.size())));
    } else {
      session_->out_ += bytes;
    }
    session_->drained_ = true;
    session_->wake_();
  }
  void end(const Pairs&) override {
    if (session_ == nullptr || end_) return;
    end_ = true;
    if (chunked_) session_->out_ += boost::beast::buffers_to_string(http::make_chunk_last());
    session_->wake_();
  }
  void reset() override {
    if (session_ == nullptr) return;
    session_->broken_ = true;
    session_->wake_();
  }

  void over(const std::string& why) {
    session_ = nullptr;
    if (auto* events = std::exchange(events_, nullptr); events != nullptr) events->on_over(why);
  }
  bool is_over() const { return session_ == nullptr; }
  void body_came() {
    if (events_ != nullptr) events_->on_body();
  }
  void sent() {
    if (events_ != nullptr) events_->on_sent();
  }

  Pairs head_, trailers_;
  std::string body_;
  bool ended_ = false, end_ = false;
  bool asks_ = false;  // the caller asks whether it may send its body (Expect: 100-continue)

 private:
  Http1Session* session_;
  Events* events_ = nullptr;
  bool chunked_ = false, sized_ = false;
};

Http1Session::Http1Session(uint32_t head_bytes_max, Requested requested, std::function<void()> wake)
    : head_bytes_max_(head_bytes_max), requested_(std::move(requested)), wake_(std::move(wake)) {
  begin();
}

Http1Session::~Http1Session() {
  lost("the connection is closed");
}

void Http1Session::begin() {
  parser_.emplace();
  parser_->header_limit(head_bytes_max_);
  parser_->body_limit(boost::none);  // methods have their own limits
  unwanted_ = 0;
}

bool Http1Session::receive(std::string_view bytes) {
  if (broken_) return false;
  in_.commit(boost::asio::buffer_copy(in_.prepare(bytes.size()),
                                      boost::asio::buffer(bytes.data(), bytes.size())));
  parse();
  return !broken_;
}

bool Http1Session::is_full() const {
  if (in_.size() > body_max) return true;
  return stream_ && (stream_->body_.size() > body_max || stream_->ended_) && in_.size() > 0;
}

void Http1Session::parse() {
  while (!broken_ && in_.size() > 0) {
    if (stream_ && stream_->ended_) return;  // the next request waits for this answer
    if (!parser_->is_header_done() && !parse_head()) return;
    if (!stream_) return;
    const size_t before = in_.size();
    parse_body();
    if (stream_ && !stream_->ended_ && in_.size() == before) return;
  }
}

bool Http1Session::parse_head() {
  boost::system::error_code bad;
  try {
    in_.consume(parser_->put(in_.data(), bad));
  } catch (const std::length_error&) {
    bad = http::error::header_limit;  // Beast keeps no header of more than 64 KiB
  }
  if (bad == http::error::need_more) return false;
  if (bad == http::error::header_limit) return refuse(431, "the head is too large"), false;
  if (bad && bad != http::error::need_buffer) return refuse(400, "not HTTP"), false;
  if (!parser_->is_header_done()) return false;
  begun_ = true;
  const auto& request = parser_->get();
  if (request.version() != 11) return refuse(505, "only HTTP/1.1 and HTTP/2"), false;
  auto stream = std::make_shared<Stream>(*this);
  stream->head_ = {{":method", std::string(request.method_string())},
                   {":path", std::string(request.target())}};
  for (const auto& field : request) {
    stream->head_.emplace_back(lower_case(field.name_string()), std::string(field.value()));
  }
  last_ = last_ || !request.keep_alive();
  stream->asks_ = boost::beast::iequals(request[http::field::expect], "100-continue");
  stream->ended_ = parser_->is_done();
  stream_ = stream;
  requested_(std::move(stream));
  return true;
}

void Http1Session::parse_body() {
  const std::shared_ptr<Stream> stream = stream_;
  boost::system::error_code bad;
  while (!parser_->is_done() && stream->body_.size() <= body_max) {
    char room[16u << 10];
    auto& body = parser_->get().body();
    body.data = room;
    body.size = sizeof room;
    const size_t used = parser_->put(in_.data(), bad);
    in_.consume(used);
    const size_t came = sizeof room - body.size;
    stream->is_over() ? void(unwanted_ += came) : void(stream->body_.append(room, came));
    if (bad == http::error::need_buffer) bad = {};
    if (bad == http::error::need_more || (!bad && used == 0)) break;
    if (bad) {
      broken_ = true;  // no answer is possible in the middle of a body
      return;
    }
  }
  stream->ended_ = parser_->is_done();
  stream->body_came();
  if (stream->is_over()) settle();
}

// Answers a head that could not be read: there is no stream to answer on.
void Http1Session::refuse(int status, const char* reason) {
  http::response<http::empty_body> answer;
  answer.version(11);
  answer.result(static_cast<unsigned>(status));
  answer.set(http::field::connection, "close");
  answer.set(http::field::content_type, "text/plain");
  answer.content_length(std::string_view(reason).size());
  out_ += text_of(answer) + reason;
  broken_ = true;
}

void Http1Session::give(std::string& out) {
  parse();  // parse what had no room before
  out += std::exchange(out_, {});
}

void Http1Session::written() {
  const std::shared_ptr<Stream> stream = stream_;
  if (!stream) return;
  if (out_.empty() && std::exchange(drained_, false)) stream->sent();
  settle();
}

// After an answer: begins the next request, if there is to be one.
void Http1Session::settle() {
  if (!stream_ || !stream_->end_ || !out_.empty()) return;
  const std::shared_ptr<Stream> stream = stream_;
  stream->over("");
  stream->body_.clear();
  if (!stream->ended_ && unwanted_ < unwanted_bytes_max) return;
  stream_ = nullptr;
  if (last_ || !stream->ended_) {
    last_ = true;
    return wake_();
  }
  begin();
  parse();
  wake_();
}

bool Http1Session::is_over() const {
  return out_.empty() && (broken_ || (last_ && !stream_));
}

size_t Http1Session::streams() const {
  return stream_ && !stream_->is_over() ? 1 : 0;
}

void Http1Session::lost(const std::string& why) {
  broken_ = true;
  if (const auto stream = std::exchange(stream_, nullptr)) stream->over(why);
}

void Http1Session::go_away() {
  last_ = true;
  wake_();
}

}  // namespace davit::host
