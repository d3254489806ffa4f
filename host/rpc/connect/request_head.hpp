// What the head of an HTTP request asks for: the protocol and its terms, or the HTTP answer that
// refuses it. Pure.
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

// A request as HTTP/1.1 and HTTP/2 give it. Keys in lower case, in the order of the wire; without
// the pseudo headers.
struct RequestHead {
  std::string verb;  // "POST"
  std::string path;  // "/davit.v1.AgentService/Watch", with its query
  Pairs headers;
  int http_major = 2;

  // A header that is there more than once is one list, as in HTTP. nullopt: it is not there.
  std::optional<std::string> header(std::string_view key) const;
};

enum class Wire : uint8_t {
  connect_unary,
  connect_stream,
  grpc,
  grpc_web,
};
enum class Form : uint8_t { proto, json };

// The terms of a call.
struct Terms {
  Wire wire = Wire::connect_unary;
  Form form = Form::proto;
  bool compressed = false;    // messages (unary: the body) may come as gzip
  bool accepts_gzip = false;  // and may be answered so
  std::optional<std::chrono::milliseconds> timeout;
  std::string content_type;  // of the answer
};

// An answer that is no call's: the status, its headers and its body.
struct HttpAnswer {
  int status = 200;
  Pairs headers;
  std::string body;
};

// `method` may be NULL: nothing of that path is served. The rules, in this order:
//  - a verb other than POST: 405 with "allow: POST" (GET of an idempotent method is not offered);
//  - a content type that is none of the protocols', or not one for this method (a unary method
//  takes
//    application/proto, application/json; one that streams application/connect+proto,
//    application/connect+json; both take application/grpc[+proto], application/grpc+json,
//    application/grpc-web[+proto|+json]; parameters such as charset=utf-8 are ignored):
//    415 with "accept-post" naming those it takes. Without a method any of them is fine;
//  - then errors are the protocol's own (see refusal): connect-protocol-version other than 1
//    (INVALID_ARGUMENT; absent is fine), connect-timeout-ms that is no number of at most ten
//    digits, grpc-timeout that is not up to eight digits and one of H M S m u n (INVALID_ARGUMENT),
//    an encoding of the request (content-encoding, connect-content-encoding, grpc-encoding) other
//    than identity and gzip (UNIMPLEMENTED, naming those that are taken, with the header
//    accept-encoding, connect-accept-encoding or grpc-accept-encoding).
// gRPC needs HTTP/2: over HTTP/1.1 it is 505.
std::variant<Terms, HttpAnswer> read_terms(const RequestHead&, const Method* method);

// How a call that gets no further is answered in its protocol: Connect unary by HTTP status and
// JSON, a Connect stream by 200 and an end-of-stream message, gRPC by 200 and grpc-status in the
// headers ("trailers only"), gRPC-Web by 200, grpc-status in the headers and no body.
HttpAnswer refusal(const Terms&, const End&);

// The block of trailers that ends a gRPC or gRPC-Web call: grpc-status, grpc-message and the end's
// own. For gRPC-Web as text, "key: value\r\n" each.
Pairs grpc_trailers(const End&);
std::string web_trailers(const End&);
// What a caller reads from them. Without grpc-status it is UNKNOWN.
End read_grpc_trailers(const Pairs&);

// "1S", "100m": for a caller. At most eight digits, rounded up.
std::string grpc_timeout(std::chrono::nanoseconds);

}  // namespace davit::host
