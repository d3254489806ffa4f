// A connection of a caller that means no good, HTTP/1.1 or HTTP/2: its bytes come in pieces, its
// requests are answered, some before they have come whole, and it is cut off at the end. Every
// request hears of its end once.
#include <functional>
#include <memory>
#include <vector>

#include "require.hpp"
#include "rpc/connect/http1_session.hpp"
#ifdef FUZZ_HTTP2
#include "rpc/connect/http2_session.hpp"
#endif

namespace {

using namespace davit;

constexpr uint32_t head_bytes_max = 2'048;

// Answers with what it is sent; a path of odd length is refused at once.
class Answer final : public host::HttpStream::Events {
 public:
  explicit Answer(std::shared_ptr<host::HttpStream> s) : stream_(std::move(s)) {
    size_t head = 0;
    for (const auto& [key, value] : stream_->head()) {
      head += key.size() + value.size();
      if (key == ":path") early_ = value.size() % 2 == 1;
    }
    fuzz::require(head <= head_bytes_max, "a head has no more than its limit");
    stream_->listen(this);
    on_body();
  }
  void on_body() override {
    if (over != 0 || answered_) return;
    const std::string bytes = stream_->take();
    if (!early_ && !stream_->body_ended()) {
      if (!bytes.empty()) held_ += bytes.size();
      return;
    }
    answered_ = true;
    stream_->send_head({{":status", "200"}, {"content-type", "text/plain"}}, false);
    stream_->send(std::string(held_ % 70'000, 'x'));
    stream_->end({{"trailer", "said"}});
  }
  void on_sent() override { fuzz::require(over == 0, "nothing comes after the end"); }
  void on_over(const std::string&) override { ++over; }

  int over = 0;

 private:
  const std::shared_ptr<host::HttpStream> stream_;
  bool early_ = false, answered_ = false;
  size_t held_ = 0;
};

}  // namespace

// The first byte is the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const size_t piece = data[0] + 1u;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::unique_ptr<Answer>> answers;
  const auto requested = [&](std::shared_ptr<host::HttpStream> s) {
    answers.push_back(std::make_unique<Answer>(std::move(s)));
  };
#ifdef FUZZ_HTTP2
  host::Http2Session::Limits limits;
  limits.head_bytes_max = head_bytes_max;
  limits.streams_max = 10;
  host::Http2Session session(limits, requested, [] {});
  session.receive("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
#else
  host::Http1Session session(head_bytes_max, requested, [] {});
#endif
  bool fine = true;
  while (fine && !bytes.empty()) {
    if (!session.is_full()) {
      fine = session.receive(bytes.substr(0, piece));
      bytes.remove_prefix(std::min(piece, bytes.size()));
    }
    std::string out;
    session.give(out);
    if (!out.empty()) session.written();
    if (session.is_over() || (session.is_full() && out.empty())) break;
  }
  session.lost("the end of the input");
  for (const auto& a : answers) fuzz::require(a->over == 1, "every request hears of its end once");
  return 0;
}
