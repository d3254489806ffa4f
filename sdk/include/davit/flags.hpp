// Flags that a slot must understand. The upper half of every `flags` is critical (abi.h): a callee
// that does not know such a bit refuses the call. The C++ wrapper asks understood() before it reads
// the flags of a struct, so that a plugin which is written with it need not care. A new flag is
// added here, beside the others of its struct.
#pragma once

#include "types.hpp"

namespace davit {

// A struct that slots get, and the critical bits of its flags that this SDK knows.
template <class T>
struct Flags;
template <>
struct Flags<davit_record> {
  static constexpr const char* of = "davit_record";
  static constexpr uint32_t known = DAVIT_RECORD_LIVE;
};
template <>
struct Flags<davit_read> {
  static constexpr const char* of = "davit_read";
  static constexpr uint32_t known = DAVIT_READ_LINGERING;
};
template <>
struct Flags<davit_get> {
  static constexpr const char* of = "davit_get";
  static constexpr uint32_t known = 0;
};
template <>
struct Flags<davit_status_read> {
  static constexpr const char* of = "davit_status_read";
  static constexpr uint32_t known = 0;
};
template <>
struct Flags<davit_status> {
  static constexpr const char* of = "davit_status";
  static constexpr uint32_t known = DAVIT_STATUS_GONE;
};
template <>
struct Flags<davit_maintain> {
  static constexpr const char* of = "davit_maintain";
  static constexpr uint32_t known = DAVIT_MAINTAIN_PURGE | DAVIT_MAINTAIN_FORGET_AGENT;
};
template <>
struct Flags<davit_begin> {
  static constexpr const char* of = "davit_begin";
  static constexpr uint32_t known = DAVIT_BEGIN_SNAPSHOT;
};
template <>
struct Flags<davit_bookmark> {
  static constexpr const char* of = "davit_bookmark";
  static constexpr uint32_t known = DAVIT_BOOKMARK_SNAPSHOT_END | DAVIT_BOOKMARK_COUNTED;
};
template <>
struct Flags<davit_cluster_watch_request> {
  static constexpr const char* of = "davit_cluster_watch_request";
  static constexpr uint32_t known = 0;
};

// UNIMPLEMENTED when `flags` has a critical bit besides the known ones. `of` says whose flags they
// are.
inline Result<> understood(const char* of, uint32_t flags, uint32_t known) {
  const uint32_t unknown = flags & DAVIT_FLAGS_CRITICAL & ~known;
  if (unknown == 0) return {};
  int bit = 0;
  while ((unknown >> bit & 1) == 0) ++bit;
  return Error{Code::unimplemented,
               std::string(of) + ".flags has bit " + std::to_string(bit) +
                   ", which is not known here and must not be ignored: install a newer version",
               of};
}
template <class T>
Result<> understood(const T& in) {
  return understood(Flags<T>::of, in.flags, Flags<T>::known);
}
// The records of a group.
inline Result<> understood(const davit_group& group) {
  for (uint32_t i = 0; i < group.mutations_count; ++i) {
    if (auto r = understood(*group.mutations[i]->record); !r.ok()) return r;
  }
  return {};
}
template <class T>
Result<> understood(const T* const* in, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (auto r = understood(*in[i]); !r.ok()) return r;
  }
  return {};
}

}  // namespace davit
