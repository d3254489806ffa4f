#include "gunzip.hpp"

#include <zlib.h>

#include <array>
#include <new>

namespace davit::cluster_kubernetes {
namespace {

constexpr int gzip_only = 15 + 16;  // the largest window, and gzip's header
constexpr size_t step_bytes = 32u << 10;

void end_stream(z_stream* stream) {
  inflateEnd(stream);
  delete stream;
}

}  // namespace

Gunzip::Gunzip() : stream_(new z_stream{}, &end_stream) {
  if (inflateInit2(stream_.get(), gzip_only) != Z_OK) throw std::bad_alloc();
}

Gunzip::Fed Gunzip::feed(std::string_view piece, std::string& out, size_t most) {
  began_ = true;
  z_stream& z = *stream_;
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
  z.avail_in = static_cast<uInt>(piece.size());
  std::array<char, step_bytes> step;
  do {
    if (whole_) return piece.empty() ? Fed::good : Fed::broken;  // bytes behind the end
    z.next_out = reinterpret_cast<Bytef*>(step.data());
    z.avail_out = static_cast<uInt>(step.size());
    const int said = inflate(&z, Z_NO_FLUSH);
    if (said != Z_OK && said != Z_STREAM_END && said != Z_BUF_ERROR) return Fed::broken;
    const size_t made = step.size() - z.avail_out;
    if (out.size() + made > most) return Fed::too_large;
    out.append(step.data(), made);
    whole_ = said == Z_STREAM_END;
  } while (z.avail_in > 0 || (!whole_ && z.avail_out == 0));
  return Fed::good;
}

}  // namespace davit::cluster_kubernetes
