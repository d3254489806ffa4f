// Gunzip: takes a compressed answer apart as it comes, up to a bound on what becomes of it. It
// knows whether the answer was whole, which libcurl's own decoding does not say. Transport uses it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace davit::cluster_kubernetes {

class Gunzip {
 public:
  Gunzip();

  enum class Fed { good, too_large, broken };
  // Appends to `out`, which may grow to `most` bytes.
  Fed feed(std::string_view piece, std::string& out, size_t most);
  // Whether something came, and not the end of it with the right checksum.
  bool cut() const { return began_ && !whole_; }

 private:
  std::unique_ptr<z_stream_s, void (*)(z_stream_s*)> stream_;
  bool began_ = false, whole_ = false;
};

}  // namespace davit::cluster_kubernetes
