#include "gzip.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <new>

namespace davit::host {

namespace {

constexpr int gzip_only = 15 + 16;  // the largest window, plus zlib's flag for a gzip header
constexpr int memory_level = 8;     // zlib's default
constexpr size_t step = 16 << 10;   // bytes of output at once

// Gives zlib the next part of the input: it counts in 32 bits.
void feed(z_stream& z, std::string_view& rest) {
  if (z.avail_in > 0) return;
  const size_t n = std::min<size_t>(rest.size(), std::numeric_limits<uInt>::max());
  z.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(rest.data()));  // only read
  z.avail_in = static_cast<uInt>(n);
  rest.remove_prefix(n);
}

using Chunk = std::array<char, step>;
using Ended = std::unique_ptr<z_stream, int (*)(z_stream*)>;  // freed on every return

void offer(z_stream& z, Chunk& chunk) {
  z.next_out = reinterpret_cast<Bytef*>(chunk.data());
  z.avail_out = static_cast<uInt>(chunk.size());
}

Error no_gzip(const char* why) {
  return {Code::invalid_argument, std::string("not gzip: ") + why};
}

Result<std::string> inflate_all(z_stream& z, std::string_view rest, size_t bytes_max) {
  std::string out;
  Chunk chunk;
  for (;;) {
    feed(z, rest);
    offer(z, chunk);
    const int code = inflate(&z, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    if (code == Z_DATA_ERROR) return no_gzip(z.msg == nullptr ? "malformed" : z.msg);
    const size_t n = chunk.size() - z.avail_out;
    if (n > bytes_max - out.size()) {
      return Error{Code::resource_exhausted,
                   "more than " + std::to_string(bytes_max) + " bytes when uncompressed"};
    }
    out.append(chunk.data(), n);
    if (code == Z_STREAM_END) break;
    if (code == Z_BUF_ERROR) return no_gzip("cut short");  // there is room: it lacks input
  }
  if (z.avail_in > 0 || !rest.empty()) return no_gzip("followed by something");
  return out;
}

}  // namespace

std::string gzip(std::string_view bytes) {
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_only, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  const Ended ended(&z, deflateEnd);
  std::string out;
  Chunk chunk;
  int code = Z_OK;
  while (code != Z_STREAM_END) {
    feed(z, bytes);
    offer(z, chunk);
    code = deflate(&z, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(chunk.data(), chunk.size() - z.avail_out);
  }
  return out;
}

Result<std::string> gunzip(std::string_view bytes, size_t bytes_max) {
  z_stream z{};
  if (inflateInit2(&z, gzip_only) != Z_OK) throw std::bad_alloc();
  const Ended ended(&z, inflateEnd);
  return inflate_all(z, bytes, bytes_max);
}

}  // namespace davit::host
