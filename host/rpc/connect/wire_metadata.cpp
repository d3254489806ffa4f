#include "wire_metadata.hpp"

#include <algorithm>
#include <array>

#include <davit/base64.hpp>

#include "ascii.hpp"

namespace davit::host {

namespace {

// They describe how a message is transferred. From a plugin they would break the message or the
// connection.
constexpr std::array<std::string_view, 11> of_http = {"connection",
                                                      "content-encoding",
                                                      "content-length",
                                                      "content-type",
                                                      "host",
                                                      "keep-alive",
                                                      "te",
                                                      "trailer",
                                                      "proxy-connection",
                                                      "upgrade",
                                                      "transfer-encoding"};

bool is_of_http(std::string_view name) {
  return std::find(of_http.begin(), of_http.end(), name) != of_http.end();
}

bool is_name(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
  });
}

bool is_printable(std::string_view s) {
  return std::all_of(s.begin(), s.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

std::string unpadded_base64(std::string_view bytes) {
  std::string out = base64(bytes);
  out.erase(out.find_last_not_of('=') + 1);
  return out;
}

Pairs metadata_to_wire(const Pairs& pairs) {
  Pairs out;
  for (const auto& [name, value] : pairs) {
    if (!is_name(name) || is_of_http(name)) continue;
    if (name.starts_with("grpc-") || name.starts_with("connect-")) continue;
    if (name.ends_with("-bin")) {
      out.emplace_back(name, unpadded_base64(value));
    } else if (is_printable(value)) {
      out.emplace_back(name, trimmed(value));
    }
  }
  return out;
}

Pairs metadata_from_wire(const Pairs& pairs) {
  Pairs out;
  for (const auto& [sent_name, value] : pairs) {
    std::string name = lower_case(sent_name);
    if (is_of_http(name) || name == "grpc-status" || name == "grpc-message") continue;
    if (!name.ends_with("-bin")) {
      out.emplace_back(std::move(name), value);
      continue;
    }
    // Binary values may have been joined on the way. Base64 has no comma.
    std::string_view list = value;
    do {
      if (auto bytes = from_base64(take_element(list, ','))) out.emplace_back(name, *bytes);
    } while (!list.empty());
  }
  return out;
}

}  // namespace davit::host
