#include "transport.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cstdlib>

#include <davit/ascii.hpp>

#include "gunzip.hpp"
#include "http/libcurl.hpp"
#include "impersonation.hpp"
#include "proxy.hpp"

namespace davit::cluster_kubernetes {
namespace {

// An API server closes connections that have been idle for 90 s (Go's default in kube-apiserver).
// libcurl would keep them for 118 s, and its next request would then fail.
constexpr long idle_connection_seconds = 60;

// Empty if the URL has no such part.
std::string part_of(CURLU* url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, void (*)(void*)> owned(text, &curl_free);
  return text;
}

std::string environment_of_process(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::string() : value;
}

curl_blob blob(std::string_view s) {
  return {const_cast<char*>(s.data()), s.size(), CURL_BLOB_NOCOPY};
}

}  // namespace

struct Transport::Curl {
  CURLM* multi = nullptr;
  std::vector<CURL*> idle;
  std::string base;        // paths are appended to it
  std::string connect_to;  // maps tls_server_name to the server's address
  std::string proxy;       // empty: none
  Pairs impersonation;     // headers of each request
};

struct Transport::Transfer {
  Spec spec;
  Done done;
  std::shared_ptr<const Access> access;  // libcurl reads the certificates in place
  CURL* easy = nullptr;
  curl_slist* headers = nullptr;
  curl_slist* connect_to = nullptr;
  size_t body_max = 0;
  std::chrono::nanoseconds started{0};
  bool too_large = false;
  bool broken = false;  // what came is no whole gzip
  std::optional<Gunzip> gunzip;
  bool paused = false;
  bool again = false;  // this is the second attempt, on a new connection
  char error[CURL_ERROR_SIZE] = "";
  Outcome outcome;

  ~Transfer() {
    curl_slist_free_all(headers);
    curl_slist_free_all(connect_to);
  }
  int status() const {
    long code = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &code);
    return static_cast<int>(code);
  }
  size_t received(std::string_view piece) {
    if (spec.data && status() == 200) {
      if (spec.data(piece)) return piece.size();
      paused = true;
      return CURL_WRITEFUNC_PAUSE;
    }
    if (gunzip) {
      const auto fed = gunzip->feed(piece, outcome.body, body_max);
      too_large = fed == Gunzip::Fed::too_large;
      broken = fed == Gunzip::Fed::broken;
      return too_large || broken ? 0 : piece.size();
    }
    if (outcome.body.size() + piece.size() > body_max) {
      too_large = true;
      return 0;  // makes libcurl end the transfer
    }
    outcome.body += piece;
    return piece.size();
  }
  void header(std::string_view line) {
    if (line == "\r\n" && spec.opened && status() == 200) spec.opened();
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string key = lower_case(line.substr(0, colon));
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    while (!value.empty() && (value.back() == '\r' || value.back() == '\n')) value.remove_suffix(1);
    if (key == "content-encoding" && lower_case(value) == "gzip") gunzip.emplace();
    outcome.headers.emplace_back(std::move(key), value);
  }
};

namespace {

template <class T>
size_t on_body(char* data, size_t, size_t size, void* self) noexcept {
  return static_cast<T*>(self)->received({data, size});
}
template <class T>
size_t on_header(char* data, size_t, size_t size, void* self) noexcept {
  static_cast<T*>(self)->header({data, size});
  return size;
}

void set_tls(CURL* easy, const Access& access) {
  auto set_blob = [&](CURLoption option, std::string_view pem) {
    curl_blob b = blob(pem);
    if (!pem.empty()) curl_easy_setopt(easy, option, &b);
  };
  set_blob(CURLOPT_CAINFO_BLOB, access.ca);
  // Otherwise libcurl trusts the system's authorities, too.
  if (!access.ca.empty()) curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  set_blob(CURLOPT_SSLCERT_BLOB, access.certificate);
  set_blob(CURLOPT_SSLKEY_BLOB, access.key.view());
  curl_easy_setopt(easy, CURLOPT_SSLCERTTYPE, "PEM");
  curl_easy_setopt(easy, CURLOPT_SSLKEYTYPE, "PEM");
  curl_easy_setopt(easy, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, access.insecure ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, access.insecure ? 0L : 2L);
  // As kubectl: the authority of the cluster is also that of a proxy that speaks TLS.
  set_blob(CURLOPT_PROXY_CAINFO_BLOB, access.ca);
  if (!access.ca.empty()) curl_easy_setopt(easy, CURLOPT_PROXY_CAPATH, nullptr);
  curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, access.insecure ? 0L : 1L);
  curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, access.insecure ? 0L : 2L);
}

}  // namespace

Transport::Transport(std::shared_ptr<const Access> access, Token& token, Options options)
    : token_(token), options_(options), curl_(std::make_unique<Curl>()) {
  http::start_libcurl();
  curl_->multi = curl_multi_init();
  curl_multi_setopt(curl_->multi, CURLMOPT_PIPELINING, static_cast<long>(CURLPIPE_NOTHING));
  curl_multi_setopt(curl_->multi, CURLMOPT_MAXCONNECTS,
                    static_cast<long>(options.connections_kept));
  use(std::move(access));
}

void Transport::use(std::shared_ptr<const Access> now) {
  access_ = std::move(now);
  const Access& access = *access_;
  const std::unique_ptr<CURLU, void (*)(CURLU*)> url(curl_url(), &curl_url_cleanup);
  curl_url_set(url.get(), CURLUPART_URL, access.url.c_str(), 0);
  const std::string host = part_of(url.get(), CURLUPART_HOST);
  curl_->base = access.url;
  curl_->connect_to.clear();
  curl_->proxy = proxy_for(access.proxy, access.url, environment_of_process);
  curl_->impersonation = headers_of(access.as);
  if (access.tls_server_name.empty()) return;
  // libcurl verifies the name in the URL. So the URL contains that name, and the connection goes to
  // the real address.
  const std::string port = part_of(url.get(), CURLUPART_PORT, CURLU_DEFAULT_PORT);
  std::string path = part_of(url.get(), CURLUPART_PATH);
  if (path.ends_with('/')) path.pop_back();
  curl_->base =
      part_of(url.get(), CURLUPART_SCHEME) + "://" + access.tls_server_name + ":" + port + path;
  curl_->connect_to = access.tls_server_name + ":" + port + ":" + host + ":" + port;
}

Transport::~Transport() {
  while (!transfers_.empty()) abort(transfers_.begin()->first);
  for (CURL* easy : curl_->idle) curl_easy_cleanup(easy);
  curl_multi_cleanup(curl_->multi);
}

Transport::Id Transport::start(Spec spec, std::chrono::nanoseconds now, Done done) {
  const Id id = next_++;
  auto owned = std::make_unique<Transfer>();
  Transfer& t = *owned;
  transfers_.emplace(id, std::move(owned));
  t.spec = std::move(spec);
  t.done = std::move(done);
  t.access = access_;
  t.body_max = options_.response_bytes_max;
  t.started = now;
  if (curl_->idle.empty()) {
    t.easy = curl_easy_init();
  } else {
    t.easy = curl_->idle.back();
    curl_->idle.pop_back();
  }
  curl_easy_setopt(t.easy, CURLOPT_PRIVATE, reinterpret_cast<void*>(id));
  set_connection(t);
  set_request(t, token_.get(now));
  curl_multi_add_handle(curl_->multi, t.easy);
  return id;
}

void Transport::set_connection(Transfer& t) {
  CURL* const e = t.easy;
  auto milliseconds = [&](CURLoption option, std::chrono::milliseconds time) {
    curl_easy_setopt(e, option, static_cast<long>(time.count()));
  };
  curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(e, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(e, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(e, CURLOPT_TCP_KEEPIDLE, 15L);
  curl_easy_setopt(e, CURLOPT_TCP_KEEPINTVL, 5L);
  curl_easy_setopt(e, CURLOPT_MAXAGE_CONN, idle_connection_seconds);
  if (distrusted_.count() > 0) {
    const auto since = std::chrono::floor<std::chrono::seconds>(t.started - distrusted_);
    curl_easy_setopt(e, CURLOPT_MAXLIFETIME_CONN, std::max<long>(1, since.count()));
  }
  milliseconds(CURLOPT_CONNECTTIMEOUT_MS, options_.connect_timeout);
  if (t.spec.data) {
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_LIMIT, 1L);
    const auto idle = std::chrono::ceil<std::chrono::seconds>(options_.stream_idle_timeout);
    curl_easy_setopt(e, CURLOPT_LOW_SPEED_TIME, static_cast<long>(idle.count()));
  } else {
    milliseconds(CURLOPT_TIMEOUT_MS, t.spec.timeout);
  }
  curl_easy_setopt(e, CURLOPT_ERRORBUFFER, t.error);
  curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, &on_body<Transfer>);
  curl_easy_setopt(e, CURLOPT_WRITEDATA, &t);
  curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, &on_header<Transfer>);
  curl_easy_setopt(e, CURLOPT_HEADERDATA, &t);
  set_tls(e, *t.access);
  // Whatever the environment says: that was judged before.
  curl_easy_setopt(e, CURLOPT_PROXY, curl_->proxy.c_str());
  curl_easy_setopt(e, CURLOPT_NOPROXY, "");
  if (!curl_->connect_to.empty()) {
    t.connect_to = curl_slist_append(nullptr, curl_->connect_to.c_str());
    curl_easy_setopt(e, CURLOPT_CONNECT_TO, t.connect_to);
  }
}

void Transport::set_request(Transfer& t, std::string_view token) {
  CURL* const e = t.easy;
  curl_easy_setopt(e, CURLOPT_URL, (curl_->base + t.spec.path).c_str());
  curl_easy_setopt(e, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(e, CURLOPT_USERAGENT, "davit/" DAVIT_PLUGIN_VERSION);
  auto header = [&](const std::string& line) {
    t.headers = curl_slist_append(t.headers, line.c_str());
  };
  header("Accept: " + t.spec.accept);
  // Not of a watch: the API server compresses none, and a proxy that did would hold events back.
  if (options_.compress && t.access->compress && !t.spec.data) header("Accept-Encoding: gzip");
  header("Expect:");  // send bodies at once, without asking first
  if (!token.empty()) {
    std::string line = "Authorization: Bearer " + std::string(token);
    header(line);  // libcurl's copy is overwritten, see http/libcurl.hpp
    explicit_bzero(line.data(), line.size());
  }
  for (const auto& [key, value] : curl_->impersonation) header(key + ": " + value);
  for (const auto& [key, value] : t.spec.headers) header(key + ": " + value);
  if (!t.spec.content_type.empty()) {
    header("Content-Type: " + t.spec.content_type);
  } else if (t.spec.method != "GET") {
    header("Content-Type:");  // by default libcurl calls an empty body a form
  }
  curl_easy_setopt(e, CURLOPT_HTTPHEADER, t.headers);
  if (t.spec.method == "GET") return;
  curl_easy_setopt(e, CURLOPT_POSTFIELDS, t.spec.body.view().data());
  curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(t.spec.body.size()));
  curl_easy_setopt(e, CURLOPT_CUSTOMREQUEST, t.spec.method.c_str());
}

void Transport::abort(Id id) {
  auto it = transfers_.find(id);
  if (it == transfers_.end()) return;
  count(it->second->easy);
  curl_multi_remove_handle(curl_->multi, it->second->easy);
  curl_easy_cleanup(it->second->easy);  // its state is unknown, so it is not used again
  transfers_.erase(it);
}

void Transport::resume(Id id) {
  auto it = transfers_.find(id);
  if (it == transfers_.end() || !it->second->paused) return;
  it->second->paused = false;
  curl_easy_pause(it->second->easy, CURLPAUSE_CONT);
}

// A kept-alive connection that turns out to be dead says nothing about the server. A request that
// may be repeated is sent once more, on a new connection, within the rest of its time.
bool Transport::go_again(Transfer& t, int code) {
  if (code == CURLE_OK || code == CURLE_OPERATION_TIMEDOUT || t.again || t.spec.method == "POST")
    return false;
  long connects = 0;
  curl_off_t taken_us = 0;
  curl_easy_getinfo(t.easy, CURLINFO_NUM_CONNECTS, &connects);
  curl_easy_getinfo(t.easy, CURLINFO_TOTAL_TIME_T, &taken_us);
  const bool nothing_came = t.outcome.headers.empty() && t.outcome.body.empty() && t.status() == 0;
  if (connects > 0 || !nothing_came) return false;
  if (!t.spec.data && t.spec.timeout.count() > 0) {
    const long left = static_cast<long>(t.spec.timeout.count() - taken_us / 1000);
    if (left <= 0) return false;
    curl_easy_setopt(t.easy, CURLOPT_TIMEOUT_MS, left);
  }
  t.again = true;
  t.error[0] = '\0';
  curl_easy_setopt(t.easy, CURLOPT_FRESH_CONNECT, 1L);
  curl_multi_remove_handle(curl_->multi, t.easy);
  curl_multi_add_handle(curl_->multi, t.easy);
  return true;
}

void Transport::count(void* easy) {
  curl_off_t bytes = 0;
  curl_easy_getinfo(static_cast<CURL*>(easy), CURLINFO_SIZE_DOWNLOAD_T, &bytes);
  received_ += static_cast<uint64_t>(std::max<curl_off_t>(bytes, 0));
}

// A kept connection from which nothing came is half open, and so may all others be that are as old.
// They are not used again, or each of them would cost a request its whole time.
void Transport::distrust(const Transfer& t) {
  long connects = 0;
  curl_easy_getinfo(t.easy, CURLINFO_NUM_CONNECTS, &connects);
  if (connects == 0 && t.status() == 0) distrusted_ = std::max(distrusted_, t.started);
}

void Transport::finish(Id id, int code) {
  auto it = transfers_.find(id);
  if (it == transfers_.end() || go_again(*it->second, code)) return;
  std::unique_ptr<Transfer> t = std::move(it->second);
  transfers_.erase(it);
  Outcome& o = t->outcome;
  o.http = t->status();
  if (code == CURLE_OK && t->gunzip && t->gunzip->cut()) t->broken = true;
  if (code == CURLE_OPERATION_TIMEDOUT) {
    o.transport = Outcome::Transport::timed_out;
    distrust(*t);
  } else if (t->too_large) {
    o.transport = Outcome::Transport::too_large;
  } else if (code != CURLE_OK || t->broken) {
    o.transport = Outcome::Transport::failed;
  }
  if (t->too_large) {
    o.error =
        "the answer has more than " + std::to_string(t->body_max) + " bytes (response_bytes_max)";
  } else if (t->broken) {
    o.error = "the answer is said to be gzip, and is none or is cut";
  } else if (code != CURLE_OK) {
    o.error = http::why_it_failed(code, t->error);
  }
  if (o.http == 401) token_.refused();
  count(t->easy);
  curl_multi_remove_handle(curl_->multi, t->easy);
  curl_easy_reset(t->easy);
  curl_->idle.push_back(t->easy);
  const Done done = std::move(t->done);
  Outcome outcome = std::move(o);
  Spec spec = std::move(t->spec);
  t.reset();
  done(std::move(outcome), std::move(spec));
}

void Transport::poll(std::chrono::milliseconds wait) {
  curl_multi_poll(curl_->multi, nullptr, 0,
                  static_cast<int>(std::clamp<int64_t>(wait.count(), 0, 60'000)), nullptr);
  int running = 0;
  curl_multi_perform(curl_->multi, &running);
  std::vector<std::pair<Id, int>> finished;
  int left = 0;
  while (const CURLMsg* m = curl_multi_info_read(curl_->multi, &left)) {
    if (m->msg != CURLMSG_DONE) continue;
    void* id = nullptr;
    curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &id);
    finished.emplace_back(reinterpret_cast<Id>(id), m->data.result);
  }
  for (const auto& [id, code] : finished) finish(id, code);
}

void Transport::expire(std::chrono::nanoseconds now) {
  std::vector<Id> silent;
  for (const auto& [id, t] : transfers_) {
    const bool limited = t->spec.data && t->spec.timeout.count() > 0;
    if (limited && t->outcome.headers.empty() && now - t->started > t->spec.timeout)
      silent.push_back(id);
  }
  for (const Id id : silent) finish(id, CURLE_OPERATION_TIMEDOUT);
}

void Transport::wake() {
  curl_multi_wakeup(curl_->multi);
}

}  // namespace davit::cluster_kubernetes
