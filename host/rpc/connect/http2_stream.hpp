// Http2Session::Stream is one stream of an HTTP/2 session. It holds what has arrived and was not
// taken, and what was sent and has not gone out.
#pragma once

#include "http2_session.hpp"

namespace davit::host {

// The result borrows the text of `pairs`.
std::vector<nghttp2_nv> to_nghttp2(const Pairs& pairs);

class Http2Session::Stream final : public HttpStream, public std::enable_shared_from_this<Stream> {
 public:
  explicit Stream(Http2Session& s) : session_(&s) {}

  // HttpStream.
  void listen(Events* events) override { events_ = events; }
  const Pairs& head() const override { return head_; }
  int http_major() const override { return 2; }
  const Pairs& trailers() const override { return trailers_; }
  bool body_ended() const override { return ended_; }
  size_t waiting() const override { return body_.size(); }
  std::string take() override;
  void send_head(const Pairs& head, bool last) override;
  void send(std::vector<Outgoing> pieces) override;
  void end(const Pairs& trailers) override;
  void reset() override {
    if (session_ != nullptr) session_->cancel(shared_from_this());
  }

  // For the session.
  nghttp2_data_provider provider();
  void add_header(std::string_view key, std::string_view value) {
    head_bytes_ += key.size() + value.size() + 32;  // size as RFC 9113 counts it
    (head_done_ ? trailers_ : head_).emplace_back(key, value);
  }
  // False if the bytes are discarded.
  bool add_body(std::string_view bytes) {
    came_ += bytes.size();
    if (session_ == nullptr) {
      unwanted_bytes_ += bytes.size();
      return false;
    }
    if (answered_) {
      dropped_ += bytes.size();
      return true;
    }
    body_ += bytes;
    if (events_ != nullptr) events_->on_body();
    return true;
  }
  void come_to_end() {
    ended_ = true;
    if (events_ != nullptr) events_->on_body();
  }
  void head_came() {
    head_done_ = true;
    if (events_ != nullptr) events_->on_head();
  }
  void sent() {
    if (drained_ && events_ != nullptr) events_->on_sent();
  }
  // Whether the body has fewer bytes than its head announced, if it ends with `last` more.
  bool is_cut_short(size_t last) const { return came_ + last < announced_bytes(); }
  // The answer has gone out. Lets the peer send more than was discarded so far.
  void let_come();
  void over(const std::string& why) {
    session_ = nullptr;
    if (auto* events = std::exchange(events_, nullptr); events != nullptr) events->on_over(why);
  }

  int32_t id_ = -1;
  bool head_done_ = false, ended_ = false, end_ = false, unwanted_ = false;
  size_t head_bytes_ = 0, unwanted_bytes_ = 0;

 private:
  void resume();
  // Discards the body from now on, because this end has said all it has to say. Serving end only.
  // The peer's window stays as it is until the answer has gone out.
  void drop_body();
  // Gives nghttp2 the next bytes when it can send.
  ssize_t read(uint8_t* to, size_t room, uint32_t& flags);

  Http2Session* session_;  // NULL once the stream is over
  Events* events_ = nullptr;
  Pairs head_, trailers_;
  std::string body_;
  size_t came_ = 0;  // bytes of the body, with what was taken or discarded
  bool answered_ = false;
  size_t dropped_ = 0;  // bytes discarded since
  std::vector<Outgoing> out_;
  size_t out_first_ = 0, out_at_ = 0;  // the current piece, and how much of it has gone
  bool deferred_ = false, drained_ = true;
  Pairs last_;
};

}  // namespace davit::host
