#include "client.hpp"

#include <curl/curl.h>
#include <openssl/ssl.h>

#include <algorithm>

#include <davit/ascii.hpp>

#include "header_text.hpp"
#include "libcurl.hpp"
#include "server_name.hpp"

namespace davit::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// libcurl has no limit of its own for all headers of an answer together.
constexpr size_t header_bytes_max = 64u << 10;
// Many servers close a connection that was idle for a minute or longer.
constexpr long idle_connection_seconds = 55;
// Nobody is held up for longer by a number in a header.
constexpr milliseconds retry_after_max = std::chrono::hours(1);

// libcurl may be built upon other libraries than OpenSSL, whose contexts are of another type.
bool upon_openssl() {
  static const std::string_view library = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return library.starts_with("OpenSSL/");
}

// OpenSSL would keep what it has decrypted until the next record comes.
CURLcode overwrite_plaintext(CURL*, void* context, void*) noexcept {
#ifdef SSL_OP_CLEANSE_PLAINTEXT  // since OpenSSL 3.0
  SSL_CTX_set_options(static_cast<SSL_CTX*>(context), SSL_OP_CLEANSE_PLAINTEXT);
#endif
  return CURLE_OK;
}

// Lines of a request's headers. libcurl's list is overwritten: a token may stand in it.
class HeaderLines {
 public:
  HeaderLines() = default;
  HeaderLines(const HeaderLines&) = delete;
  HeaderLines& operator=(const HeaderLines&) = delete;
  ~HeaderLines() {
    for (curl_slist* line = list_; line != nullptr; line = line->next)
      explicit_bzero(line->data, std::strlen(line->data));
    curl_slist_free_all(list_);
  }
  void add(std::string_view name, std::string_view value) {
    Wiped line(name);
    line.append(": ");
    line.append(value);
    line.append(std::string_view("\0", 1));
    list_ = curl_slist_append(list_, line.view().data());
  }
  // Takes away what libcurl would send by itself.
  void without(const char* name) {
    list_ = curl_slist_append(list_, (std::string(name) + ":").c_str());
  }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

// Where libcurl's own text says more than the code, and can only be about the way to the server.
bool about_the_connection(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_OPERATION_TIMEDOUT:
      return true;
    default:
      return false;
  }
}

bool about_our_files(CURLcode code) {
  return code == CURLE_SSL_CERTPROBLEM || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_SSL_CIPHER;
}

}  // namespace

// What is kept between requests: libcurl's connections belong to `multi`.
struct Client::Handle {
  explicit Handle(std::shared_ptr<const Tls> files)
      : multi(curl_multi_init()), easy(curl_easy_init()), tls(std::move(files)) {
    if (multi == nullptr || easy == nullptr) throw std::bad_alloc();
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
  CURLM* const multi;
  CURL* const easy;
  const std::shared_ptr<const Tls> tls;  // libcurl reads the certificates in place
};

// One attempt: from the begin of a request to the end of its answer.
class Client::Transfer {
 public:
  Transfer(const Options& options, const Request& request, Handle& handle)
      : options_(options), request_(request), handle_(handle) {
    error_[0] = '\0';
    set_limits();
    set_tls();
    set_request();
    curl_multi_add_handle(handle.multi, handle.easy);
  }
  ~Transfer() {
    curl_multi_remove_handle(handle_.multi, handle_.easy);
    curl_easy_reset(handle_.easy);  // it points into this object
    curl_slist_free_all(connect_to_);
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Empty: the answer is complete. Waits until then, or until `op` ends.
  std::optional<Error> run(const Host& host, const Op& op, nanoseconds until);
  Response take_response();
  // A kept connection was closed before anything came. That says nothing about the server.
  bool found_it_closed() const {
    long connects = 0;
    curl_easy_getinfo(handle_.easy, CURLINFO_NUM_CONNECTS, &connects);
    return failed_ && connects == 0 && headers_bytes_ == 0 && response_.body.empty();
  }

 private:
  template <class T>
  void set(CURLoption option, T value) {
    curl_easy_setopt(handle_.easy, option, value);
  }
  void set_limits();
  void set_tls();
  void set_url();
  void set_request();
  Error why(CURLcode code);
  Error too_long() const {
    return {Code::resource_exhausted, "the answer has more than " +
                                          std::to_string(options_.response_bytes_max) +
                                          " bytes (response_bytes_max)"};
  }
  size_t body(char* data, size_t size);
  size_t header(std::string_view line);

  const Options& options_;
  const Request& request_;
  Handle& handle_;
  HeaderLines lines_;
  curl_slist* connect_to_ = nullptr;
  Response response_;
  size_t headers_bytes_ = 0;
  bool too_long_ = false, too_many_headers_ = false;
  bool failed_ = false;
  char error_[CURL_ERROR_SIZE];
};

void Client::Transfer::set_limits() {
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  const auto version = options_.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;
  set(CURLOPT_HTTP_VERSION, static_cast<long>(version));
  set(CURLOPT_NOSIGNAL, 1L);
#if LIBCURL_VERSION_NUM >= 0x075700
  set(CURLOPT_QUICK_EXIT, 1L);  // the end of a request does not wait for a name server
#endif
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_MAXAGE_CONN, idle_connection_seconds);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout.count()));
  set(CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(options_.response_bytes_max));
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_ERRORBUFFER, error_);
  if (options_.proxy == proxy_of_environment) return;
  set(CURLOPT_PROXY, options_.proxy.c_str());
  set(CURLOPT_NOPROXY, "");  // a proxy of the configuration holds for every host
}

void Client::Transfer::set_tls() {
  const auto set_blob = [&](CURLoption option, const Secret& pem) {
    curl_blob blob{const_cast<char*>(pem.view().data()), pem.size(), CURL_BLOB_NOCOPY};
    if (pem.size() > 0) curl_easy_setopt(handle_.easy, option, &blob);
  };
  const Tls& tls = *handle_.tls;
  set_blob(CURLOPT_CAINFO_BLOB, tls.ca);
  // Beside a CA of ours libcurl would go on trusting the system's folder.
  if (tls.ca.size() > 0) set(CURLOPT_CAPATH, static_cast<char*>(nullptr));
  set_blob(CURLOPT_SSLCERT_BLOB, tls.certificate);
  set_blob(CURLOPT_SSLKEY_BLOB, tls.key);
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (upon_openssl()) set(CURLOPT_SSL_CTX_FUNCTION, &overwrite_plaintext);
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
}

void Client::Transfer::set_url() {
  const std::string url(request_.url);
  if (options_.tls_server_name.empty()) return set(CURLOPT_URL, url.c_str());
  const Renamed other = renamed(url, options_.tls_server_name);
  connect_to_ = curl_slist_append(nullptr, other.connect_to.c_str());
  set(CURLOPT_CONNECT_TO, connect_to_);
  set(CURLOPT_URL, other.url.c_str());
}

void Client::Transfer::set_request() {
  set_url();
  set(CURLOPT_USERAGENT, options_.user_agent.c_str());
  bool typed = request_.method == "GET";
  for (const Header& h : request_.headers) {
    lines_.add(h.name, h.value);
    typed = typed || lower_case(h.name) == "content-type";
  }
  if (!typed) lines_.without("Content-Type");  // libcurl would call the body a form
  lines_.without("Expect");                    // send bodies at once, without asking first
  set(CURLOPT_HTTPHEADER, lines_.get());
  if (request_.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request_.method != "GET") {
    set(CURLOPT_POSTFIELDS, request_.body.data() == nullptr ? "" : request_.body.data());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    set(CURLOPT_CUSTOMREQUEST, std::string(request_.method).c_str());
  }
  const curl_write_callback on_body = [](char* data, size_t, size_t size, void* self) noexcept {
    return static_cast<Transfer*>(self)->body(data, size);
  };
  const curl_write_callback on_header = [](char* data, size_t, size_t size, void* self) noexcept {
    return static_cast<Transfer*>(self)->header({data, size});
  };
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
}

// libcurl does not read its buffer again after this, so nothing of the body stays in it.
size_t Client::Transfer::body(char* data, size_t size) {
  too_long_ = response_.body.size() + size > options_.response_bytes_max;
  if (!too_long_) response_.body.append({data, size});
  explicit_bzero(data, size);
  return too_long_ ? 0 : size;  // 0 makes libcurl end the transfer
}

size_t Client::Transfer::header(std::string_view line) {
  headers_bytes_ += line.size();
  too_many_headers_ = headers_bytes_ > header_bytes_max;
  if (too_many_headers_) return 0;
  if (line.starts_with("HTTP/")) response_.headers.clear();  // that was a preliminary answer
  if (auto found = parse_header(line)) response_.headers.push_back(std::move(*found));
  return line.size();
}

std::optional<Error> Client::Transfer::run(const Host& host, const Op& op, nanoseconds until) {
  const OnCancel wake(op, [multi = handle_.multi] { curl_multi_wakeup(multi); });
  for (;;) {
    int running = 0, left = 0;
    curl_multi_perform(handle_.multi, &running);
    if (const CURLMsg* m = curl_multi_info_read(handle_.multi, &left); m != nullptr) {
      if (m->data.result == CURLE_OK) return std::nullopt;
      return why(m->data.result);
    }
    const auto now = host.now();
    if (auto over = given_up(op, now)) return over;
    if (now >= until) {
      return Error{Code::unavailable, "no answer within " +
                                          std::to_string(options_.request_timeout.count()) +
                                          " ms (request_timeout_ms)"};
    }
    const auto wait = std::chrono::ceil<milliseconds>(until - now);
    curl_multi_poll(handle_.multi, nullptr, 0,
                    static_cast<int>(std::min<int64_t>(wait.count(), 60'000)), nullptr);
  }
}

Error Client::Transfer::why(CURLcode code) {
  failed_ = true;
  if (too_long_ || code == CURLE_FILESIZE_EXCEEDED) return too_long();
  if (too_many_headers_) {
    return {Code::resource_exhausted,
            "the answer's headers have more than " + std::to_string(header_bytes_max) + " bytes"};
  }
  return {about_our_files(code) ? Code::failed_precondition : Code::unavailable,
          why_it_failed(code, about_the_connection(code) ? error_ : "")};
}

Response Client::Transfer::take_response() {
  long status = 0;
  curl_off_t seconds = 0;
  curl_easy_getinfo(handle_.easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(handle_.easy, CURLINFO_RETRY_AFTER, &seconds);
  const curl_off_t most = std::chrono::floor<std::chrono::seconds>(retry_after_max).count();
  response_.status = static_cast<int>(status);
  response_.retry_after = std::chrono::seconds(std::clamp<curl_off_t>(seconds, 0, most));
  return std::move(response_);
}

Result<Url> parse_url(const std::string& text) {
  start_libcurl();
  const auto wrong = [](const char* what) { return Error{Code::invalid_argument, what}; };
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(), &curl_url_cleanup);
  // Without CURLU_GUESS_SCHEME a URL has its scheme. libcurl overlooks a "/" too many.
  if (!sendable(text) || text.find(' ') != std::string::npos ||
      text.find(":///") != std::string::npos ||
      curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
    return wrong("is no URL: it has the form https://HOST:PORT");
  const auto part = [&url](CURLUPart which) -> std::string {
    char* found = nullptr;
    if (curl_url_get(url.get(), which, &found, 0) != CURLUE_OK) return {};
    const std::unique_ptr<char, void (*)(void*)> owned(found, &curl_free);
    return found;
  };
  const std::string scheme = part(CURLUPART_SCHEME), host = part(CURLUPART_HOST);
  if (scheme != "http" && scheme != "https") return wrong("must begin with https:// or http://");
  if (!part(CURLUPART_USER).empty() || !part(CURLUPART_PASSWORD).empty())
    return wrong("has a user or a password, which must not stand in a URL");
  if (text.find_first_of("?#") != std::string::npos)
    return wrong("has a \"?\" or a \"#\": it ends with its host or with a path");
  Url out;
  out.text = text;
  while (out.text.ends_with('/')) out.text.pop_back();
  out.host = host + (part(CURLUPART_PORT).empty() ? "" : ":" + part(CURLUPART_PORT));
  out.tls = scheme == "https";
  out.loopback = host == "localhost" || host.starts_with("127.") || host == "[::1]";
  return out;
}

Client::Client(Host host, Options options)
    : host_(host), options_(std::move(options)), tls_(host, options_.tls) {
  start_libcurl();
}

Client::~Client() = default;

// Handles with connections of other certificates are dropped.
std::unique_ptr<Client::Handle> Client::take(const std::shared_ptr<const Tls>& tls) {
  std::vector<std::unique_ptr<Handle>> old;  // connections are closed without the lock
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    auto handle = std::move(idle_.back());
    idle_.pop_back();
    if (handle->tls == tls) return handle;
    old.push_back(std::move(handle));
  }
  return std::make_unique<Handle>(tls);
}

void Client::keep(std::unique_ptr<Handle> handle) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(handle));
}

Result<Response> Client::send(const Request& request, const Op& op) {
  if (auto over = given_up(op, host_.now())) return *over;
  for (const Header& h : request.headers) {
    if (!sendable(h.name) || !sendable(h.value)) {
      return Error{Code::invalid_argument,
                   "the header " + std::string(h.name) + " has characters that no header may have"};
    }
  }
  auto tls = tls_.current();
  if (!tls.ok()) return tls.error().in(tls.error().where);
  const auto until =
      std::min(host_.now() + options_.request_timeout, nanoseconds(op.deadline_ns()));
  for (bool again = false;; again = true) {
    auto handle = again ? std::make_unique<Handle>(*tls) : take(*tls);
    std::optional<Error> failed;
    Response response;
    bool closed = false;
    {
      Transfer transfer(options_, request, *handle);
      failed = transfer.run(host_, op, until);
      if (!failed) {
        response = transfer.take_response();
      } else {
        closed = transfer.found_it_closed();
      }
    }
    if (!failed) {
      keep(std::move(handle));
      return Result<Response>(std::move(response));
    }
    // A handle whose transfer failed is not used again: its state, or the address that it knows,
    // may be the reason.
    if (again || !request.repeatable || !closed) return *failed;
  }
}

}  // namespace davit::http
