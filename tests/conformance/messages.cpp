#include "messages.hpp"

#include <algorithm>

namespace davit::suite {

namespace {

// The two kinds of definitions number their fields differently.
struct Numbers {
  uint32_t error, trailers, delay;
};
constexpr Numbers of_unary = {3, 4, 6};
constexpr Numbers of_stream = {4, 5, 3};

char to_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

Definition read_definition(std::string_view message, const Numbers& n) {
  Definition out;
  for (const Field& f : fields(message)) {
    if (f.number == 1) read_header(f.bytes, out.headers);
    if (f.number == 2) out.data.emplace_back(f.bytes);
    if (f.number == n.error) out.error = read_fault(f.bytes);
    if (f.number == n.trailers) read_header(f.bytes, out.trailers);
    if (f.number == n.delay) out.delay = std::chrono::milliseconds(f.value);
  }
  return out;
}

}  // namespace

void read_header(std::string_view message, Pairs& out) {
  std::string name;
  for (const Field& f : fields(message)) {
    if (f.number == 1) name = f.bytes;
    if (f.number == 1) std::transform(name.begin(), name.end(), name.begin(), to_lower);
    if (f.number == 2) out.emplace_back(name, f.bytes);
  }
}

void write_headers(Writer& to, uint32_t field, const Pairs& headers) {
  for (size_t i = 0; i < headers.size(); ++i) {
    const auto same = [&](const auto& other) { return other.first == headers[i].first; };
    const auto here = headers.begin() + static_cast<ptrdiff_t>(i);
    if (std::any_of(headers.begin(), here, same)) continue;
    Writer header;
    header.bytes(1, headers[i].first);
    std::for_each(here, headers.end(), [&](const auto& other) {
      if (same(other)) header.bytes(2, other.second);
    });
    to.bytes(field, header.take());
  }
}

Fault read_fault(std::string_view message) {
  Fault out;
  for (const Field& f : fields(message)) {
    if (f.number == 1) out.code = static_cast<Code>(f.value);
    if (f.number == 2) out.message = f.bytes;
    if (f.number == 3) out.details.emplace_back(f.bytes);
  }
  return out;
}

std::string to_bytes(const Fault& fault) {
  Writer out;
  out.number(1, static_cast<uint64_t>(fault.code));
  if (fault.message) out.bytes(2, *fault.message);
  for (const auto& detail : fault.details) out.bytes(3, detail);
  return out.take();
}

std::string any(std::string_view type, std::string_view message) {
  std::string url = "type.googleapis.com/";
  url.append(package).append(type);
  return Writer().bytes(1, url).bytes(2, message).take();
}

Request read_request(std::string_view message, bool answers_stream) {
  Request out;
  for (const Field& f : fields(message)) {
    if (f.number == 1)
      out.definition = read_definition(f.bytes, answers_stream ? of_stream : of_unary);
    // In the other requests this is bytes, and has no value.
    if (f.number == 2) out.full_duplex = f.value != 0;
  }
  return out;
}

}  // namespace davit::suite
