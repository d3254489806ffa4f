#include "journal.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include <davit/types.hpp>

namespace davit::host {
namespace {

constexpr const char* journal_socket = "/run/systemd/journal/socket";

char priority(int32_t level) {
  if (level <= DAVIT_LOG_DEBUG) return '7';
  if (level == DAVIT_LOG_INFO) return '6';
  return level == DAVIT_LOG_WARN ? '4' : '3';
}

// A value of one line stands behind "=". Any other has its length before it, in eight bytes.
void add_field(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  if (value.find('\n') == std::string_view::npos) {
    out += '=';
  } else {
    out += '\n';
    uint64_t size = value.size();
    for (int i = 0; i < 8; ++i, size >>= 8) out += static_cast<char>(size & 0xff);
  }
  out += value;
  out += '\n';
}

// Names have at most 64 capital letters, digits and underscores.
std::string field_name(std::string_view key) {
  constexpr size_t name_bytes_max = 64;
  std::string out = "DAVIT_";
  for (const char c : key.substr(0, name_bytes_max - out.size())) {
    if (c >= 'a' && c <= 'z') {
      out += static_cast<char>(c - 'a' + 'A');
    } else {
      out += (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ? c : '_';
    }
  }
  return out;
}

}  // namespace

bool stderr_is_journal() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(STDERR_FILENO, &status) != 0) return false;
  return stream == std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

std::string journal_prefix(int32_t level) {
  if (!stderr_is_journal()) return {};
  return {'<', priority(level), '>'};
}

Journal::Journal() : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}

Journal::~Journal() {
  if (socket_ >= 0) ::close(socket_);
}

std::string Journal::entry(int32_t level, std::string_view instance, std::string_view text,
                           const davit_pair* fields, size_t fields_count) {
  std::string out;
  add_field(out, "MESSAGE", std::string(instance) + ": " + std::string(text));
  add_field(out, "PRIORITY", std::string(1, priority(level)));
  add_field(out, "SYSLOG_IDENTIFIER", "davit");
  add_field(out, "DAVIT_INSTANCE", instance);
  for (size_t i = 0; i < fields_count; ++i)
    add_field(out, field_name(view(fields[i].key)), view(fields[i].value));
  return out;
}

bool Journal::send(int32_t level, std::string_view instance, std::string_view text,
                   const davit_pair* fields, size_t fields_count) const {
  if (socket_ < 0) return false;
  const std::string datagram = entry(level, instance, text, fields, fields_count);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, journal_socket, sizeof address.sun_path - 1);
  const ssize_t sent = ::sendto(socket_, datagram.data(), datagram.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), sizeof address);
  return sent == static_cast<ssize_t>(datagram.size());
}

}  // namespace davit::host
