#include "http2_session.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "http2_stream.hpp"
#include "unwanted.hpp"

namespace davit::host {

namespace {

// The bytes of a full frame, and the frames that a head may have besides those that it needs.
constexpr size_t frame_bytes = 16u << 10, more_frames = 8;
// Streams that a peer may begin and reset: at a stretch, and then each second.
constexpr uint64_t resets_burst = 1'000, resets_a_second = 33;
// How much is given to the socket at once. The rest waits in the streams, where its buffers may be
// shared.
constexpr size_t give_max = 32u << 10;
// Payload of the ping that follows the notice of going away.
constexpr uint8_t notice[8] = {'g', 'o', 'a', 'w', 'a', 'y'};

std::string words(uint32_t error_code) {
  return std::string("the peer ended the stream: ") + nghttp2_http2_strerror(error_code);
}

}  // namespace

// nghttp2's callbacks.
struct Http2Session::Table {
  static Http2Session& of(void* user) { return *static_cast<Http2Session*>(user); }

  // nghttp2 takes a body that is shorter than its content-length for an error of the protocol. Once
  // the peer has its answer it may stop there (RFC 9113, 8.1). Go's client does, and would not use
  // the connection again after such an error.
  static int begin_frame(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
    Http2Session& s = of(user);
    if (head->type != NGHTTP2_DATA || (head->flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const auto stream = s.find(head->stream_id);
    if (stream != nullptr && stream->unwanted_ && stream->is_cut_short(head->length))
      s.reset(stream->id_, NGHTTP2_NO_ERROR);
    return 0;
  }

  static int begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& s = of(user);
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    auto stream = std::make_shared<Stream>(s);
    stream->id_ = frame->hd.stream_id;
    s.streams_.emplace(stream->id_, std::move(stream));
    return 0;
  }

  static int header(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* key,
                    size_t key_size, const uint8_t* value, size_t value_size, uint8_t, void* user) {
    Http2Session& s = of(user);
    const auto stream = s.find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    stream->add_header({reinterpret_cast<const char*>(key), key_size},
                       {reinterpret_cast<const char*>(value), value_size});
    if (stream->head_bytes_ <= s.limits_.head_bytes_max) return 0;
    s.reset(stream->id_, NGHTTP2_ENHANCE_YOUR_CALM);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int invalid_header(nghttp2_session*, const nghttp2_frame*, nghttp2_rcbuf*, nghttp2_rcbuf*,
                            uint8_t, void*) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;  // nghttp2 resets the stream
  }

  static int frame_received(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& s = of(user);
    if (frame->hd.type == NGHTTP2_SETTINGS) s.begun_ = true;
    if (frame->hd.type == NGHTTP2_GOAWAY) s.leaving_ = true;
    const bool answer = frame->hd.type == NGHTTP2_PING && (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    if (answer && s.ticks_to_leave_ > 0 && std::equal(notice, notice + 8, frame->ping.opaque_data))
      s.take_no_more();
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) return 0;
    const auto stream = s.find(frame->hd.stream_id);
    if (stream == nullptr) return 0;
    const bool last = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (frame->hd.type == NGHTTP2_HEADERS && !stream->head_done_) {
      if (is_interim(*stream)) return 0;
      if (last) stream->ended_ = true;
      stream->head_came();
      if (s.requested_) s.requested_(stream);
      if (last && !s.requested_) stream->come_to_end();
      return 0;
    }
    if (last) stream->come_to_end();
    return 0;
  }

  // An interim answer (1xx): another head follows.
  static bool is_interim(Stream& stream) {
    const auto& head = stream.head();
    if (head.empty() || head.front().first != ":status" || head.front().second.front() != '1')
      return false;
    const_cast<Pairs&>(head).clear();
    return true;
  }

  static int data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                  void* user) {
    Http2Session& s = of(user);
    // Gives the connection's window back at once, so that a stream that is not read does not stop
    // others.
    nghttp2_session_consume_connection(session, size);
    const auto stream = s.find(id);
    if (stream != nullptr && stream->add_body({reinterpret_cast<const char*>(bytes), size}))
      return 0;
    nghttp2_session_consume_stream(session, id, size);
    if (stream != nullptr && stream->unwanted_bytes_ > unwanted_bytes_max)
      s.reset(id, NGHTTP2_NO_ERROR);
    return 0;
  }

  // If an answer ends before the whole request has arrived, the rest is discarded for one to two
  // seconds. Then the stream is reset (RFC 9113, 8.1).
  static int frame_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Http2Session& s = of(user);
    const bool may_end = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!s.requested_ || !may_end || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    const auto stream = s.find(frame->hd.stream_id);
    if (stream == nullptr || stream->ended_) return 0;
    stream->let_come();
    stream->unwanted_ = true;
    ++s.unwanted_streams_;
    s.unwanted_.push_back(stream);
    stream->over("");
    return 0;
  }

  static int closed(nghttp2_session*, int32_t id, uint32_t error_code, void* user) {
    Http2Session& s = of(user);
    const auto stream = s.find(id);
    const bool fine = error_code == NGHTTP2_NO_ERROR && stream != nullptr && stream->end_;
    s.forget(id, fine ? "" : words(error_code));
    return 0;
  }

  static nghttp2_session* make(Http2Session& s) {
    nghttp2_session_callbacks* c = nullptr;
    nghttp2_option* o = nullptr;
    if (nghttp2_session_callbacks_new(&c) != 0 || nghttp2_option_new(&o) != 0)
      throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_frame_callback(c, &begin_frame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(c, &begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(c, &header);
    nghttp2_session_callbacks_set_on_invalid_header_callback2(c, &invalid_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(c, &frame_received);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, &data);
    nghttp2_session_callbacks_set_on_frame_send_callback(c, &frame_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, &closed);
    nghttp2_option_set_no_auto_window_update(o, 1);
    nghttp2_option_set_no_closed_streams(o, 1);
    nghttp2_option_set_max_continuations(o, s.limits_.head_bytes_max / frame_bytes + more_frames);
    nghttp2_option_set_stream_reset_rate_limit(o, resets_burst, resets_a_second);
    nghttp2_session* out = nullptr;
    const int made = s.requested_ ? nghttp2_session_server_new2(&out, c, &s, o)
                                  : nghttp2_session_client_new2(&out, c, &s, o);
    nghttp2_option_del(o);
    nghttp2_session_callbacks_del(c);
    if (made != 0) throw std::bad_alloc();
    return out;
  }
};

Http2Session::Http2Session(const Limits& limits, Requested requested, std::function<void()> wake)
    : limits_(limits), requested_(std::move(requested)), wake_(std::move(wake)) {
  session_ = Table::make(*this);
  std::vector<nghttp2_settings_entry> settings = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.streams_max},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits_.stream_window},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits_.head_bytes_max}};
  if (!requested_) settings.push_back({NGHTTP2_SETTINGS_ENABLE_PUSH, 0});
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0,
                                        static_cast<int32_t>(limits_.connection_window));
}

Http2Session::~Http2Session() {
  lost("the connection is closed");
  nghttp2_session_del(session_);
}

std::shared_ptr<Http2Session::Stream> Http2Session::find(int32_t id) const {
  const auto found = streams_.find(id);
  return found == streams_.end() ? nullptr : found->second;
}

void Http2Session::cancel(const std::shared_ptr<Stream>& stream) {
  cancelled_.push_back(stream);
  wake_();
}

void Http2Session::reset(int32_t id, uint32_t code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, code);
  wake_();
}

void Http2Session::forget(int32_t id, const std::string& why) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  const auto stream = std::move(found->second);
  streams_.erase(found);
  if (stream->unwanted_) --unwanted_streams_;
  stream->over(why);
}

std::shared_ptr<HttpStream> Http2Session::request(const Pairs& head, bool last) {
  if (leaving_ || broken_) return nullptr;
  auto stream = std::make_shared<Stream>(*this);
  auto values = to_nghttp2(head);
  const nghttp2_data_provider body = stream->provider();
  const int32_t id = nghttp2_submit_request(session_, nullptr, values.data(), values.size(),
                                            last ? nullptr : &body, nullptr);
  if (id < 0) return nullptr;
  stream->id_ = id;
  stream->end_ = last;
  streams_.emplace(id, stream);
  wake_();
  return stream;
}

bool Http2Session::receive(std::string_view bytes) {
  if (broken_) return false;
  const auto n = nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(bytes.data()),
                                          bytes.size());
  if (n < 0) {
    broken_ = true;
    nghttp2_session_terminate_session(
        session_, n == NGHTTP2_ERR_FLOODED ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_PROTOCOL_ERROR);
  }
  wake_();
  return n >= 0;
}

void Http2Session::give(std::string& out) {
  for (const auto& weak : std::exchange(cancelled_, {})) {
    const auto stream = weak.lock();
    if (stream != nullptr && find(stream->id_) == stream) reset(stream->id_, NGHTTP2_CANCEL);
  }
  const uint8_t* data = nullptr;
  while (out.size() < give_max) {
    const auto n = nghttp2_session_mem_send(session_, &data);
    if (n < 0) broken_ = true;
    if (n <= 0) return;
    out.append(reinterpret_cast<const char*>(data), static_cast<size_t>(n));
  }
}

void Http2Session::written() {
  for (const auto& weak : std::exchange(drained_, {})) {
    if (const auto stream = weak.lock()) stream->sent();
  }
  wake_();
}

bool Http2Session::is_over() const {
  return nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0;
}

void Http2Session::lost(const std::string& why) {
  broken_ = true;
  while (!streams_.empty()) forget(streams_.begin()->first, why);
}

// Streams that the peer began before it learned of this are still served: they have arrived when
// the answer to the ping arrives (RFC 9113, 6.8).
void Http2Session::go_away() {
  if (std::exchange(leaving_, true)) return;
  if (!requested_) return take_no_more();
  constexpr int ticks_to_answer = 2;
  ticks_to_leave_ = ticks_to_answer;
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, notice);
  wake_();
}

void Http2Session::take_no_more() {
  ticks_to_leave_ = 0;
  const int32_t last = nghttp2_session_get_last_proc_stream_id(session_);
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, last, NGHTTP2_NO_ERROR, nullptr, 0);
  wake_();
}

void Http2Session::tick() {
  if (ticks_to_leave_ > 0 && --ticks_to_leave_ == 0) take_no_more();
  for (const auto& weak : std::exchange(unwanted_before_, std::exchange(unwanted_, {}))) {
    const auto stream = weak.lock();
    if (stream != nullptr && find(stream->id_) == stream) reset(stream->id_, NGHTTP2_NO_ERROR);
  }
}

bool Http2Session::ping() {
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
  wake_();
  return true;
}

}  // namespace davit::host
