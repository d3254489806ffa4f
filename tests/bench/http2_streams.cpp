#include "http2_streams.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <system_error>

#include "socket.hpp"

namespace davit::bench {

namespace {

constexpr size_t envelope_size = 5;
constexpr uint8_t end_of_stream = 0x02;     // Connect: the message is JSON about the end
constexpr uint32_t window_bytes = 4 << 20;  // never what is waited for
constexpr size_t read_bytes = 256 << 10;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

uint32_t message_size(std::string_view envelope) {
  uint32_t size = 0;
  for (size_t i = 1; i < envelope_size; ++i) size = size << 8 | static_cast<uint8_t>(envelope[i]);
  return size;
}

std::string enveloped(const grpc::ByteBuffer& message) {
  const auto size = static_cast<uint32_t>(message.Length());
  std::string out = {0, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                     static_cast<char>(size >> 8), static_cast<char>(size)};
  std::vector<grpc::Slice> slices;
  if (!message.Dump(&slices).ok()) throw std::runtime_error("the request cannot be read");
  for (const auto& slice : slices)
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return out;
}

}  // namespace

Framing framing(const std::string& name) {
  if (name == "connect") return Framing::connect;
  if (name == "grpc") return Framing::grpc;
  throw std::runtime_error("no framing is called " + name);
}

struct Http2Streams::Stream {
  Http2Streams& owner;
  const size_t index;
  std::string request;   // what is still to be sent
  std::string received;  // less than one message
  std::string end;       // what the server says of it

  void take(std::string_view bytes) {
    received.append(bytes);
    std::string_view rest = received;
    while (rest.size() >= envelope_size && rest.size() - envelope_size >= message_size(rest)) {
      const std::string_view message = rest.substr(envelope_size, message_size(rest));
      if (owner.framing_ == Framing::connect && (rest.front() & end_of_stream) != 0) {
        end += message;
      } else if (rest.front() != 0 || !owner.arrived_(index, message)) {
        owner.fault_ = "a message cannot be read";
      }
      rest.remove_prefix(envelope_size + message.size());
    }
    received.erase(0, received.size() - rest.size());
    if (received.empty()) received.shrink_to_fit();
  }
};

struct Http2Streams::Connection {
  const int fd;
  nghttp2_session* session = nullptr;

  explicit Connection(const std::string& server) : fd(connected(server)) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }
  ~Connection() {
    nghttp2_session_del(session);
    close(fd);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // False: the connection is gone.
  bool read() {
    static std::array<uint8_t, read_bytes> bytes;
    const ssize_t n = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    return nghttp2_session_mem_recv(session, bytes.data(), static_cast<size_t>(n)) >= 0 &&
           nghttp2_session_send(session) == 0;
  }
};

struct Http2Streams::Callbacks {
  static Stream* of(nghttp2_session* session, int32_t id) {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
  }

  // Waits for room in the socket: requests and acknowledgements are all that is sent.
  static ssize_t send(nghttp2_session*, const uint8_t* bytes, size_t size, int, void* user) {
    const ssize_t n = ::send(static_cast<Connection*>(user)->fd, bytes, size, MSG_NOSIGNAL);
    if (n < 0) return NGHTTP2_ERR_CALLBACK_FAILURE;
    return n;
  }

  static int header(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* key,
                    size_t key_size, const uint8_t* value, size_t value_size, uint8_t, void*) {
    const std::string_view name(reinterpret_cast<const char*>(key), key_size);
    Stream* stream = of(session, frame->hd.stream_id);
    if (stream == nullptr || (name != ":status" && !name.starts_with("grpc-"))) return 0;
    stream->end.append(name).append("=");
    stream->end.append(reinterpret_cast<const char*>(value), value_size).append(" ");
    return 0;
  }

  static int data(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* bytes, size_t size,
                  void*) {
    if (Stream* stream = of(session, id); stream != nullptr)
      stream->take({reinterpret_cast<const char*>(bytes), size});
    return 0;
  }

  static int closed(nghttp2_session* session, int32_t id, uint32_t code, void*) {
    if (Stream* stream = of(session, id); stream != nullptr)
      stream->owner.fault_ = "a stream ended: " + stream->end + nghttp2_http2_strerror(code);
    return 0;
  }

  static ssize_t request(nghttp2_session*, int32_t, uint8_t* to, size_t most, uint32_t* flags,
                         nghttp2_data_source* source, void*) {
    std::string& rest = *static_cast<std::string*>(source->ptr);
    const size_t n = rest.copy(reinterpret_cast<char*>(to), most);
    rest.erase(0, n);
    if (rest.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }

  static nghttp2_session* make(Connection& connection) {
    nghttp2_session_callbacks* c = nullptr;
    if (nghttp2_session_callbacks_new(&c) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_send_callback(c, &send);
    nghttp2_session_callbacks_set_on_header_callback(c, &header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, &data);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, &closed);
    nghttp2_session* out = nullptr;
    const int made = nghttp2_session_client_new(&out, c, &connection);
    nghttp2_session_callbacks_del(c);
    if (made != 0) throw std::bad_alloc();
    const nghttp2_settings_entry entries[] = {{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
                                              {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window_bytes}};
    nghttp2_submit_settings(out, NGHTTP2_FLAG_NONE, entries, std::size(entries));
    nghttp2_session_set_local_window_size(out, NGHTTP2_FLAG_NONE, 0, window_bytes);
    return out;
  }
};

Http2Streams::Http2Streams(Framing framing, const std::string& server, size_t connections,
                           Arrived arrived)
    : framing_(framing), arrived_(std::move(arrived)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event input{EPOLLIN, {.ptr = nullptr}};
  // Files and /dev/null cannot be waited for: they have ended.
  input_ended_ = epoll_ctl(epoll_, EPOLL_CTL_ADD, STDIN_FILENO, &input) != 0;
  for (size_t i = 0; i < connections; ++i) {
    auto& added = connections_.emplace_back(std::make_unique<Connection>(server));
    added->session = Callbacks::make(*added);
    epoll_event event{EPOLLIN, {.ptr = added.get()}};
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, added->fd, &event) != 0) fail("epoll_ctl");
  }
}

Http2Streams::~Http2Streams() {
  connections_.clear();
  close(epoll_);
}

void Http2Streams::open(const StreamRequest& request) {
  const bool is_grpc = framing_ == Framing::grpc;
  const std::string authorization = "Bearer " + request.token;
  const std::pair<std::string_view, std::string_view> head[] = {
      {":method", "POST"},
      {":scheme", "http"},
      {":path", request.path},
      {":authority", "bench"},
      {"content-type", is_grpc ? "application/grpc" : "application/connect+proto"},
      is_grpc ? std::pair<std::string_view, std::string_view>{"te", "trailers"}
              : std::pair<std::string_view, std::string_view>{"connect-protocol-version", "1"},
      {"authorization", authorization},
      {"x-krane-region", request.region}};
  std::vector<nghttp2_nv> fields;
  for (const auto& [name, value] : head) {
    const auto bytes = [](std::string_view text) {
      return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));  // nghttp2 copies them
    };
    fields.push_back({bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
  }
  const size_t index = streams_.size();
  auto& stream =
      streams_.emplace_back(new Stream{*this, index, enveloped(request.message), {}, {}});
  const nghttp2_data_provider body{{.ptr = &stream->request}, &Callbacks::request};
  const Connection& connection = *connections_[index % connections_.size()];
  if (nghttp2_submit_request(connection.session, nullptr, fields.data(), fields.size(), &body,
                             stream.get()) < 0 ||
      nghttp2_session_send(connection.session) != 0)
    throw std::runtime_error("the request cannot be sent");
}

void Http2Streams::run_until(const std::function<bool()>& over, std::chrono::seconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::array<epoll_event, 256> events;
  while (!over()) {
    if (!fault_.empty()) throw std::runtime_error(fault_);
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("not within " + std::to_string(limit.count()) + " s");
    const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 1000);
    for (int i = 0; i < count; ++i) {
      if (auto* connection = static_cast<Connection*>(events[i].data.ptr)) {
        if (!connection->read()) throw std::runtime_error("the server has closed a connection");
        continue;
      }
      char input[64];
      if (read(STDIN_FILENO, input, sizeof input) <= 0) {
        input_ended_ = true;
        epoll_ctl(epoll_, EPOLL_CTL_DEL, STDIN_FILENO, nullptr);
      }
    }
  }
}

void Http2Streams::run_until_input_ends() {
  run_until([this] { return input_ended_; }, std::chrono::hours(1));
}

}  // namespace davit::bench
