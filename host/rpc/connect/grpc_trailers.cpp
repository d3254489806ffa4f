// The trailers that end a gRPC call. request_head.hpp declares these functions.
#include <algorithm>
#include <davit/utf8.hpp>

#include "../status_details.hpp"
#include "code.hpp"
#include "end_json.hpp"
#include "request_head.hpp"
#include "wire_metadata.hpp"

namespace davit::host {

namespace {

constexpr int code_max = static_cast<int>(Code::unauthenticated);
// Many peers refuse trailers of more than 8 KiB, and encoding may triple a byte.
constexpr size_t message_bytes_max = 2'048;

// A code of gRPC, written without leading zeros.
std::optional<Code> read_status(std::string_view s) {
  if (s.empty() || s.size() > 2 || (s.size() == 2 && s[0] == '0')) return std::nullopt;
  int n = 0;
  for (const char c : s) {
    if (c < '0' || c > '9') return std::nullopt;
    n = n * 10 + (c - '0');
  }
  if (n > code_max) return std::nullopt;
  return static_cast<Code>(n);
}

}  // namespace

Pairs grpc_trailers(const End& end) {
  const int number = static_cast<int>(end.code);
  const bool known = number >= 0 && number <= code_max;
  Pairs out = {{"grpc-status", std::to_string(known ? number : static_cast<int>(Code::unknown))}};
  if (!end.message.empty()) {
    out.emplace_back("grpc-message", percent_encoded(cut_utf8(end.message, message_bytes_max)));
  }
  if (!end.details.empty())
    out.emplace_back("grpc-status-details-bin", unpadded_base64(status_details(end)));
  for (auto& pair : metadata_to_wire(end.trailers)) out.push_back(std::move(pair));
  return out;
}

std::string web_trailers(const End& end) {
  std::string out;
  for (const auto& [key, value] : grpc_trailers(end)) {
    out.append(key).append(": ").append(value).append("\r\n");
  }
  return out;
}

End read_grpc_trailers(const Pairs& pairs) {
  const RequestHead as_head{{}, {}, pairs};
  const auto status = as_head.header("grpc-status");
  End out{Code::unknown, percent_decoded(as_head.header("grpc-message").value_or("")),
          metadata_from_wire(pairs)};
  const auto is_details = [](const auto& t) { return t.first == "grpc-status-details-bin"; };
  const auto details = std::find_if(out.trailers.begin(), out.trailers.end(), is_details);
  if (details != out.trailers.end()) out.details = read_status_details(details->second);
  std::erase_if(out.trailers, is_details);
  const auto code = status ? read_status(*status) : std::nullopt;
  if (code) {
    out.code = *code;
  } else if (out.message.empty()) {
    out.message = status ? "grpc-status is not a code" : "the call ended without grpc-status";
  }
  return out;
}

}  // namespace davit::host
