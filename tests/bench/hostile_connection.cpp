#include "hostile_connection.hpp"

#include <fcntl.h>
#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <map>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "socket.hpp"

namespace davit::bench {

namespace {

constexpr size_t read_bytes = 64 << 10;
constexpr int look_ms = 50;

std::string in_grpc_frame(const std::string& message) {
  const auto size = static_cast<uint32_t>(message.size());
  std::string out = {0, static_cast<char>(size >> 24), static_cast<char>(size >> 16),
                     static_cast<char>(size >> 8), static_cast<char>(size)};
  return out += message;
}

}  // namespace

struct HostileConnection::Session {
  struct Body {
    std::string bytes;
    size_t sent = 0;
  };

  Session(const std::string& server, std::string t, std::string r, const Habit& h, HabitCounts& c)
      : fd(connected(server)),
        authorization("Bearer " + t),
        region(std::move(r)),
        habit(h),
        counts(c) {
    fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  ~Session() {
    nghttp2_session_del(http);
    close(fd);
  }

  const int fd;
  const std::string authorization, region;
  const Habit& habit;
  HabitCounts& counts;
  nghttp2_session* http = nullptr;
  std::map<int32_t, Body> open;  // by stream

  static Session& of(void* user) { return *static_cast<Session*>(user); }

  static ssize_t send(nghttp2_session*, const uint8_t* bytes, size_t size, int, void* user) {
    const ssize_t n = ::send(of(user).fd, bytes, size, MSG_NOSIGNAL);
    if (n >= 0) return n;
    return errno == EAGAIN ? NGHTTP2_ERR_WOULDBLOCK : NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  static ssize_t body(nghttp2_session*, int32_t id, uint8_t* to, size_t most, uint32_t* flags,
                      nghttp2_data_source*, void* user) {
    Body& b = of(user).open[id];
    const size_t n = b.bytes.copy(reinterpret_cast<char*>(to), most, b.sent);
    b.sent += n;
    if (b.sent == b.bytes.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }
  static int data(nghttp2_session* s, uint8_t, int32_t id, const uint8_t*, size_t, void* user) {
    if (of(user).habit.until == Until::message)
      nghttp2_submit_rst_stream(s, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
    return 0;
  }
  static int closed(nghttp2_session*, int32_t id, uint32_t, void* user) {
    of(user).open.erase(id);
    ++of(user).counts.ended;
    return 0;
  }

  void make() {
    nghttp2_session_callbacks* c = nullptr;
    nghttp2_option* options = nullptr;
    if (nghttp2_session_callbacks_new(&c) != 0 || nghttp2_option_new(&options) != 0)
      throw std::bad_alloc();
    nghttp2_session_callbacks_set_send_callback(c, &send);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, &data);
    nghttp2_session_callbacks_set_on_stream_close_callback(c, &closed);
    if (habit.until == Until::never_read) nghttp2_option_set_no_auto_window_update(options, 1);
    const int made = nghttp2_session_client_new2(&http, c, this, options);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(c);
    if (made != 0) throw std::bad_alloc();
    const nghttp2_settings_entry no_push{NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
    nghttp2_submit_settings(http, NGHTTP2_FLAG_NONE, &no_push, 1);
  }

  bool begin_call() {
    const std::pair<std::string_view, std::string_view> head[] = {
        {":method", "POST"},
        {":scheme", "http"},
        {":path", habit.path},
        {":authority", "bench"},
        {"te", "trailers"},
        {"content-type", "application/grpc"},
        {"authorization", authorization},
        {"x-krane-region", region}};
    std::vector<nghttp2_nv> fields;
    for (const auto& [name, value] : head) {
      const auto bytes = [](std::string_view text) {
        return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));  // nghttp2 copies them
      };
      fields.push_back(
          {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE});
    }
    const nghttp2_data_provider provider{{.ptr = nullptr}, &body};
    const int32_t id =
        nghttp2_submit_request(http, nullptr, fields.data(), fields.size(), &provider, nullptr);
    if (id < 0) return false;
    open[id] = {in_grpc_frame(habit.message(counts.begun++)), 0};
    return true;
  }

  // False: the connection is gone.
  bool step() {
    while (open.size() < habit.at_once && nghttp2_session_check_request_allowed(http) != 0) {
      if (!begin_call()) return false;
    }
    if (nghttp2_session_send(http) != 0) return false;
    // Watches that are not read are at the end of their windows by themselves.
    const auto wanted =
        static_cast<short>(POLLIN | (nghttp2_session_want_write(http) ? POLLOUT : 0));
    pollfd ready{fd, wanted, 0};
    if (poll(&ready, 1, look_ms) <= 0 || (ready.revents & ~POLLOUT) == 0) return true;
    std::array<uint8_t, read_bytes> bytes;
    const ssize_t n = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    return nghttp2_session_mem_recv(http, bytes.data(), static_cast<size_t>(n)) >= 0;
  }
};

HostileConnection::HostileConnection(const std::string& server, std::string token,
                                     std::string region, const Habit& habit, HabitCounts& counts)
    : session_(
          std::make_unique<Session>(server, std::move(token), std::move(region), habit, counts)) {
  session_->make();
}

HostileConnection::~HostileConnection() = default;

void HostileConnection::run(const std::atomic<bool>& over) {
  while (!over && session_->step()) {
  }
}

}  // namespace davit::bench
