// Client: one blocking HTTP(S) request a call, for plugins that ask a server on the threads of
// their pool. It keeps connections between calls. Only client.cpp includes libcurl.
//
// A caller's Op ends a request at once: by its deadline, or when its caller gives up. No error
// contains anything of a body or of a header.
#pragma once

#include <memory>
#include <mutex>

#include <davit/operation.hpp>
#include <davit/wiped.hpp>

#include "tls_files.hpp"

namespace davit::http {

struct Options {
  TlsFiles::Names tls{};
  // The name in the server's certificate. Empty: the URL's host.
  std::string tls_server_name{};
  // Empty: none, whatever the environment says. `proxy_of_environment`: what HTTPS_PROXY and
  // NO_PROXY say. Otherwise a URL.
  std::string proxy{};
  std::chrono::milliseconds connect_timeout{5'000};
  // Of one request, from its begin to the end of its answer.
  std::chrono::milliseconds request_timeout{10'000};
  size_t response_bytes_max = 16u << 20;
  // HTTP/2 where a server offers it over TLS. libcurl then keeps the last bytes of an answer in a
  // buffer of its own until the next answer comes. By HTTP/1.1 it keeps nothing.
  bool http2 = false;
  std::string user_agent = "davit";
};
constexpr const char* proxy_of_environment = "environment";

struct Header {
  std::string_view name, value;
};

// Everything is borrowed for the call.
struct Request {
  std::string_view method = "GET";
  std::string_view url;
  std::vector<Header> headers;
  std::string_view body;  // of any method but GET and HEAD
  // The server does the same when it gets the request twice. So the request is sent again, once,
  // when a kept connection turns out to be closed.
  bool repeatable = false;
};

struct Response {
  int status = 0;
  Pairs headers;  // names in lower case
  Wiped body;
  std::chrono::milliseconds retry_after{0};  // by Retry-After; at most an hour; 0: not said

  // Empty: there is none.
  std::string_view header(std::string_view name) const;
};

// What the server, or a proxy before it, says by its status: try again later. UNAVAILABLE, with
// retry_after, for 429, 502, 503 and 504; nothing for any other status.
std::optional<Error> busy(const Response& response);

// A URL taken apart, as far as a plugin needs it.
struct Url {
  std::string text;  // without a "/" at its end
  std::string host;  // with its port: for people
  bool tls = false;
  bool loopback = false;
};
// An error: it is no http:// or https:// URL, or has a user, a password, a query or a fragment. The
// message does not show the URL.
Result<Url> parse_url(const std::string& text);

class Client {
 public:
  Client(Host host, Options options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Any status is an answer. Errors: CANCELLED and DEADLINE_EXCEEDED by `op`; UNAVAILABLE: there is
  // no connection, it was cut, or the answer took longer than a timeout; RESOURCE_EXHAUSTED: the
  // answer is too long; FAILED_PRECONDITION: certificate or key cannot be used; INVALID_ARGUMENT: a
  // header has characters that none may have. Blocks; any thread.
  Result<Response> send(const Request& request, const Op& op);
  // Whether the TLS files can be read now.
  Result<> check() const { return tls_.check(); }

 private:
  struct Handle;
  class Transfer;
  std::unique_ptr<Handle> take(const std::shared_ptr<const Tls>& tls);
  void keep(std::unique_ptr<Handle> handle);

  const Host host_;
  const Options options_;
  TlsFiles tls_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace davit::http
