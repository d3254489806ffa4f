// Packed records, statuses and progress of a store: as they stand, and with a right checksum, which
// no fuzzer would guess. What can be unpacked can be packed, and is then the same.
#include <davit/packed.hpp>

#include "choice.hpp"
#include "require.hpp"

namespace {

using namespace davit;

template <class Unpack>
void claim(Unpack unpack, std::string_view bytes) {
  const auto value = unpack(bytes);
  if (!fuzz::no_bug(value, "unpack").ok()) return;
  const std::string packed = packed::pack(*value);
  const auto back = unpack(std::string_view(packed));
  fuzz::require(back.ok(), "what was packed is unpacked", packed);
  fuzz::require(packed::pack(*back) == packed, "a value survives the way through bytes", packed);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto [entry, rest] = fuzz::choose(data, size);
  const bool sealed = entry.ends_with(".members");
  const std::string bytes = sealed ? packed::detail::seal(entry.front(), rest) : std::string(rest);
  if (entry.starts_with("record")) claim(&packed::unpack_record, bytes);
  if (entry.starts_with("status")) claim(&packed::unpack_status, bytes);
  if (entry.starts_with("progress")) claim(&packed::unpack_progress, bytes);
  return 0;
}
