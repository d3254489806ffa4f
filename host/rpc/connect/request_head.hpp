// Reads what the head of an HTTP request asks for: the protocol and the terms of the call, or the
// HTTP answer that refuses it. ConnectServer uses it for each request. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <davit/types.hpp>

#include "../end.hpp"
#include "../method_registry.hpp"

namespace davit::host {

// The head of a request over HTTP/1.1 or HTTP/2. Keys are in lower case, in the order of the wire,
// without pseudo headers.
struct RequestHead {
  std::string verb;  // "POST"
  std::string path;  // "/davit.v1.AgentService/Watch", with its query
  Pairs headers;
  int http_major = 2;

  // A header that is given more than once is one list, as in HTTP. nullopt if it is not given.
  std::optional<std::string> header(std::string_view key) const;
};

// The protocol of a call.
enum class Wire : uint8_t {
  connect_unary,
  connect_stream,
  grpc,
  grpc_web,
};
// How messages are encoded.
enum class Form : uint8_t { proto, json };

// The terms of a call: its protocol, form, compression and timeout.
struct Terms {
  Wire wire = Wire::connect_unary;
  Form form = Form::proto;
  bool compressed = false;    // messages (unary: the body) may be compressed with gzip
  bool accepts_gzip = false;  // and so may answers
  std::optional<std::chrono::milliseconds> timeout;
  std::string content_type;  // content type of the answer
};

// An HTTP answer that no call made: status, headers and body.
struct HttpAnswer {
  int status = 200;
  Pairs headers;
  std::string body;
};

// Reads the terms of a call. `method` is NULL if nothing is served at the path. The rules, in
// order:
// * A verb other than POST: 405 with "allow: POST". (GET of an idempotent method is not offered.)
// * A content type that belongs to none of the protocols, does not fit the method, or is given more
//   than once: 415. "accept-post" names the types that fit. A unary method takes application/proto
//   and application/json. A method that streams takes application/connect+proto and
//   application/connect+json. Both take application/grpc[+proto|+json] and
//   application/grpc-web[+proto|+json]. Parameters such as charset=utf-8 are ignored. Without a
//   method every type fits.
// * gRPC over HTTP/1.1: 505. It needs HTTP/2.
// * Further errors have the form of the protocol (see refusal). INVALID_ARGUMENT:
//   connect-protocol-version is given and not 1; connect-timeout-ms is not a number of at most ten
//   digits; grpc-timeout is not at most eight digits and one of H M S m u n.
// * UNIMPLEMENTED: the request's encoding (content-encoding, connect-content-encoding,
//   grpc-encoding) is neither identity nor gzip. The header accept-encoding,
//   connect-accept-encoding or grpc-accept-encoding names those two.
std::variant<Terms, HttpAnswer> read_terms(const RequestHead&, const Method* method);

// The answer to a call that is refused, in its protocol. Connect unary: the HTTP status and JSON. A
// Connect stream: 200 and an end-of-stream message. gRPC: 200 and grpc-status in the headers
// ("trailers only"). gRPC-Web: 200, grpc-status in the headers and no body.
HttpAnswer refusal(const Terms&, const End&);

// The trailers that end a gRPC or gRPC-Web call: grpc-status, grpc-message, details and the end's
// own. For gRPC-Web as text, "key: value\r\n" each.
Pairs grpc_trailers(const End&);
std::string web_trailers(const End&);
// The end that such trailers mean. UNKNOWN without grpc-status.
End read_grpc_trailers(const Pairs&);

// A caller's grpc-timeout: "1S", "100m". At most eight digits, rounded up.
std::string grpc_timeout(std::chrono::nanoseconds);

}  // namespace davit::host
