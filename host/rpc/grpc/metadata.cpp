#include "metadata.hpp"

#include <grpc/grpc.h>
#include <grpcpp/support/slice.h>

#include <chrono>

#include <davit/utf8.hpp>

#include "../status_details.hpp"

namespace davit::host {

bool is_legal(std::string_view key, std::string_view value) {
  const grpc_slice k = grpc_slice_from_static_buffer(key.data(), key.size());
  const grpc_slice v = grpc_slice_from_static_buffer(value.data(), value.size());
  if (grpc_header_key_is_legal(k) == 0) return false;
  return grpc_is_binary_header(k) != 0 || grpc_header_nonbin_value_is_legal(v) != 0;
}

bool can_be_sent(const std::string& key, const std::string& value) {
  return is_legal(key, value) && key.rfind("grpc-", 0) != 0;  // "grpc-" is reserved for gRPC
}

grpc::Status to_grpc(const End& end) {
  if (end.code == Code::ok) return grpc::Status::OK;
  // The other side refuses trailers of more than 8 KiB, and encoding may triple a byte.
  constexpr size_t message_bytes_max = 2'048;
  return {static_cast<grpc::StatusCode>(end.code),
          std::string(cut_utf8(end.message, message_bytes_max)), status_details(end)};
}

Code from_grpc(grpc::StatusCode code) {
  return static_cast<Code>(code);
}

Pairs from_grpc(const GrpcMetadata& metadata) {
  Pairs out;
  out.reserve(metadata.size());
  for (const auto& [key, value] : metadata) out.emplace_back(view(key), view(value));
  return out;
}

std::chrono::system_clock::time_point to_grpc_deadline(int64_t monotonic_ns) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const auto rest = std::chrono::nanoseconds(monotonic_ns) - std::chrono::nanoseconds(now);
  return std::chrono::system_clock::now() +
         std::chrono::duration_cast<std::chrono::system_clock::duration>(rest);
}

}  // namespace davit::host
