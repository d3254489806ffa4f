#include "case.hpp"

#include <davit/rpc.hpp>

namespace davit::suite {

namespace {

constexpr uint64_t client_stream = 2, server_stream = 3, half_duplex = 4,
                   full_duplex = 5;  // StreamType

Cancel read_cancel(std::string_view message) {
  Cancel out;
  bool said = false;
  for (const Field& f : fields(message)) {
    said = said || (f.number >= 1 && f.number <= 3);
    if (f.number == 1) out.before_close_send = true;
    if (f.number == 2) out.after_close_send = std::chrono::milliseconds(f.value);
    if (f.number == 3) out.after_responses = f.value;
  }
  if (!said) out.after_close_send = std::chrono::milliseconds(0);
  return out;
}

// The message within an Any.
std::string read_any(std::string_view message) {
  std::string out;
  for (const Field& f : fields(message)) {
    if (f.number == 2) out = f.bytes;
  }
  return out;
}

void read_credentials(std::string_view message, Case& out) {
  for (const Field& f : fields(message)) {
    if (f.number == 1) out.client_certificate = f.bytes;
    if (f.number == 2) out.client_key = f.bytes;
  }
}

void read_target(const Field& f, Case& out) {
  if (f.number == 6) out.host = f.bytes;
  if (f.number == 7) out.port = f.value;
  if (f.number == 8) out.server_certificate = f.bytes;
  if (f.number == 9) read_credentials(f.bytes, out);
  if (f.number == 10) out.response_bytes_max = f.value;
}

void read_call(const Field& f, Case& out) {
  if (f.number == 13) {
    out.answers_stream =
        f.value == server_stream || f.value == half_duplex || f.value == full_duplex;
    out.alternates = f.value == full_duplex;
    const bool asks_stream =
        f.value == client_stream || f.value == half_duplex || f.value == full_duplex;
    out.streaming = (out.answers_stream ? DAVIT_RPC_SERVER_STREAMS : 0u) |
                    (asks_stream ? DAVIT_RPC_CLIENT_STREAMS : 0u);
  }
  if (f.number == 15) read_header(f.bytes, out.headers);
  if (f.number == 16) out.messages.push_back(read_any(f.bytes));
  if (f.number == 17) out.timeout = std::chrono::milliseconds(f.value);
  if (f.number == 18) out.delay = std::chrono::milliseconds(f.value);
  if (f.number == 19) out.cancel = read_cancel(f.bytes);
}

}  // namespace

Case read_case(std::string_view message) {
  Case out;
  std::string service, method;
  for (const Field& f : fields(message)) {
    if (f.number == 1) out.name = f.bytes;
    if (f.number == 11) service = f.bytes;
    if (f.number == 12) method = f.bytes;
    read_target(f, out);
    read_call(f, out);
  }
  out.path = service + "/" + method;
  return out;
}

std::string to_bytes(const Case& c, const Outcome& outcome) {
  Writer result;
  write_headers(result, 1, outcome.headers);
  for (const auto& payload : outcome.payloads) result.bytes(2, payload);
  if (outcome.error) result.bytes(3, to_bytes(*outcome.error));
  write_headers(result, 4, outcome.trailers);
  result.number(5, outcome.unsent);
  return Writer().bytes(1, c.name).bytes(2, result.take()).take();
}

std::string not_tried(const Case& c, std::string_view why) {
  return Writer().bytes(1, c.name).bytes(3, Writer().bytes(1, why).take()).take();
}

}  // namespace davit::suite
