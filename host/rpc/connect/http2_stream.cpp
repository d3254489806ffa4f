#include "http2_stream.hpp"

#include <iterator>

namespace davit::host {

std::vector<nghttp2_nv> to_nghttp2(const Pairs& pairs) {
  std::vector<nghttp2_nv> out;
  out.reserve(pairs.size());
  const auto bytes = [](const std::string& s) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(s.data()));
  };
  for (const auto& [key, value] : pairs) {
    const uint8_t flags = key == "authorization" ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
    out.push_back({bytes(key), bytes(value), key.size(), value.size(), flags});
  }
  return out;
}

std::string Http2Session::Stream::take() {
  std::string out = std::exchange(body_, {});
  if (session_ == nullptr || out.empty()) return out;
  nghttp2_session_consume_stream(session_->session_, id_, out.size());
  session_->wake_();
  return out;
}

void Http2Session::Stream::send_head(const Pairs& head, bool last) {
  if (session_ == nullptr) return;
  auto values = to_nghttp2(head);
  const nghttp2_data_provider body = provider();
  nghttp2_submit_response(session_->session_, id_, values.data(), values.size(),
                          last ? nullptr : &body);
  end_ = last;
  if (last) drop_body();
  session_->wake_();
}

void Http2Session::Stream::send(std::vector<Outgoing> pieces) {
  if (session_ == nullptr) return;
  if (out_.empty()) {
    out_ = std::move(pieces);
  } else {
    out_.insert(out_.end(), std::make_move_iterator(pieces.begin()),
                std::make_move_iterator(pieces.end()));
  }
  drained_ = false;
  resume();
}

void Http2Session::Stream::end(const Pairs& trailers) {
  if (session_ == nullptr || end_) return;
  end_ = true;
  last_ = trailers;
  drop_body();
  resume();
}

void Http2Session::Stream::drop_body() {
  if (!session_->requested_) return;
  answered_ = true;
  dropped_ += body_.size();
  std::string().swap(body_);
}

void Http2Session::Stream::let_come() {
  if (session_ != nullptr)
    nghttp2_session_consume_stream(session_->session_, id_, std::exchange(dropped_, 0));
}

nghttp2_data_provider Http2Session::Stream::provider() {
  nghttp2_data_provider out{};
  out.source.ptr = this;
  out.read_callback = [](nghttp2_session*, int32_t, uint8_t* to, size_t room, uint32_t* flags,
                         nghttp2_data_source* source, void*) -> ssize_t {
    return static_cast<Stream*>(source->ptr)->read(to, room, *flags);
  };
  return out;
}

void Http2Session::Stream::resume() {
  if (std::exchange(deferred_, false)) nghttp2_session_resume_data(session_->session_, id_);
  session_->wake_();
}

ssize_t Http2Session::Stream::read(uint8_t* to, size_t room, uint32_t& flags) {
  size_t size = 0;
  while (out_first_ < out_.size()) {
    Outgoing& piece = out_[out_first_];
    const size_t copied = piece.copy(out_at_, reinterpret_cast<char*>(to) + size, room - size);
    size += copied;
    out_at_ += copied;
    if (out_at_ < piece.size()) break;  // no room is left
    piece.body = {};
    ++out_first_;
    out_at_ = 0;
  }
  const bool all = out_first_ == out_.size();
  if (all && !drained_) {
    drained_ = true;
    std::vector<Outgoing>().swap(out_);  // a stream that is silent for days keeps no memory
    out_first_ = 0;
    session_->drained_.push_back(weak_from_this());
  }
  if (!all) return static_cast<ssize_t>(size);
  if (end_) {
    flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!last_.empty()) {
      flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      auto values = to_nghttp2(last_);
      nghttp2_submit_trailer(session_->session_, id_, values.data(), values.size());
    }
    return static_cast<ssize_t>(size);
  }
  if (size > 0) return static_cast<ssize_t>(size);
  deferred_ = true;
  return NGHTTP2_ERR_DEFERRED;
}

}  // namespace davit::host
