// Http1Session is the serving end of an HTTP/1.1 connection, by Beast. It handles one request after
// the other.
#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <functional>
#include <optional>

#include "http_stream.hpp"

namespace davit::host {

class Http1Session final : public HttpSession {
 public:
  using Requested = std::function<void(std::shared_ptr<HttpStream>)>;
  Http1Session(uint32_t head_bytes_max, Requested requested, std::function<void()> wake);
  ~Http1Session() override;

  bool receive(std::string_view bytes) override;
  bool is_begun() const override { return begun_; }
  bool is_full() const override;
  void give(std::string& out) override;
  void written() override;
  bool is_over() const override;
  void lost(const std::string& why) override;
  void go_away() override;
  size_t streams() const override;

 private:
  class Stream;
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;
  void begin();
  void parse();
  bool parse_head();
  void parse_body();
  void refuse(int status, const char* reason);
  void settle();

  const uint32_t head_bytes_max_;
  const Requested requested_;
  const std::function<void()> wake_;
  boost::beast::flat_buffer in_;
  std::optional<Parser> parser_;
  std::shared_ptr<Stream> stream_;  // the request that is being answered
  std::string out_;
  size_t unwanted_ = 0;   // discarded bytes of a body
  bool drained_ = false;  // all of out_ was given, and the stream has not been told
  bool begun_ = false;    // the first head has arrived
  bool last_ = false;     // no further request is read
  bool broken_ = false;
};

}  // namespace davit::host
