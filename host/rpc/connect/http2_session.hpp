// Http2Session is an HTTP/2 connection at either end, by nghttp2. Servers and clients share it;
// Stream (http2_stream.hpp) is one of its streams.
#pragma once

#include <nghttp2/nghttp2.h>

#include <functional>
#include <unordered_map>
#include <vector>

#include "http_stream.hpp"

namespace davit::host {

class Http2Session final : public HttpSession {
 public:
  struct Limits {
    uint32_t streams_max = 1'000;           // of the peer's, at once
    uint32_t head_bytes_max = 8u << 10;     // a stream with a larger head is reset
    uint32_t stream_window = 65'535;        // bytes that a peer may send before they are taken
    uint32_t connection_window = 1u << 20;  // the same for all streams together
  };
  using Requested = std::function<void(std::shared_ptr<HttpStream>)>;
  // `requested` is called for each request. If it is NULL, this is the calling end. `wake` is
  // called when there is something to give.
  Http2Session(const Limits&, Requested requested, std::function<void()> wake);
  ~Http2Session() override;
  Http2Session(const Http2Session&) = delete;
  Http2Session& operator=(const Http2Session&) = delete;

  // Calling end: begins a request. NULL if the connection takes no more streams because it is going
  // away.
  std::shared_ptr<HttpStream> request(const Pairs& head, bool last);

  bool receive(std::string_view bytes) override;
  void give(std::string& out) override;
  void written() override;
  bool is_begun() const override { return begun_; }
  bool is_over() const override;
  void lost(const std::string& why) override;
  void go_away() override;
  size_t streams() const override { return streams_.size() - unwanted_streams_; }
  void tick() override;
  bool ping() override;

 private:
  class Stream;
  struct Table;  // nghttp2's callbacks
  std::shared_ptr<Stream> find(int32_t id) const;
  void forget(int32_t id, const std::string& why);
  // Resets the stream when something is given next, unless it has come to its end by then. Servers
  // count resets, and cut off who sends many of them.
  void cancel(const std::shared_ptr<Stream>& stream);
  void reset(int32_t id, uint32_t code);
  void take_no_more();

  const Limits limits_;
  const Requested requested_;
  const std::function<void()> wake_;
  nghttp2_session* session_ = nullptr;
  std::unordered_map<int32_t, std::shared_ptr<Stream>> streams_;
  std::vector<std::weak_ptr<Stream>> drained_;  // since the last `written`
  std::vector<std::weak_ptr<Stream>> cancelled_;
  // Streams that were answered before the whole request had arrived: those from before the last
  // tick, and those since.
  std::vector<std::weak_ptr<Stream>> unwanted_before_, unwanted_;
  size_t unwanted_streams_ = 0;
  bool begun_ = false, leaving_ = false, broken_ = false;
  int ticks_to_leave_ = 0;  // ticks left to wait for the answer to the notice; 0: not waiting
};

}  // namespace davit::host
