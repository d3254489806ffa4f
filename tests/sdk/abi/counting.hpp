// Notes which structs and slots of the ABI a test exercises. count() puts a function before each
// slot of a table. It notes the slot and the structs among the arguments, with those that they
// point to. The list of all structs and slots is made from the headers (longer.py).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <deque>
#include <set>
#include <string>

#include <davit/abi.h>
#include <davit/abi/actuator.h>
#include <davit/abi/kind_needs.h>
#include <davit/abi/records_role.h>
#include <davit/abi/rights.h>
#include <davit/abi/secrets.h>
#include <davit/abi/storage_copy.h>
#include <davit/abi/storage_election.h>
#include <davit/abi/storage_intents.h>
#include <davit/abi/storage_move.h>
#include <davit/abi/storage_schema.h>

namespace davit::test {

inline std::set<std::string>& exercised() {
  static std::set<std::string> names;
  return names;
}

// The name of a struct that grows; NULL for all other types.
template <class T>
inline constexpr const char* struct_name = nullptr;
#define ABI_STRUCT(T, last) \
  template <>               \
  inline constexpr const char* struct_name<T> = #T;
#define ABI_SLOT(T, member)
#define ABI_POINTER(T, member)
#define ABI_POINTERS(T, member)
#include "abi_list.inc"
#undef ABI_STRUCT
#undef ABI_POINTER
#undef ABI_POINTERS

// Notes a struct, and those that it points to.
template <class S>
void saw(const S& s) {
  exercised().insert(struct_name<S>);
  [[maybe_unused]] const auto pointed = [](const auto* p) {
    if (p != nullptr) saw(*p);
  };
  [[maybe_unused]] const auto first_of = [](const auto* p, size_t count) {
    if (count != 0) saw(**p);
  };
#define ABI_STRUCT(T, last)
#define ABI_POINTER(T, member) \
  if constexpr (std::is_same_v<S, T>) pointed(s.member);
#define ABI_POINTERS(T, member) \
  if constexpr (std::is_same_v<S, T>) first_of(s.member, s.member##_count);
#include "abi_list.inc"
}
#undef ABI_SLOT
#undef ABI_POINTER
#undef ABI_POINTERS

template <class S>
S* count(S* table);

// Tables of callbacks, which a slot gets with their `self`. They are counted when they are given.
template <class T>
inline constexpr bool is_callbacks =
    std::is_same_v<T, davit_actuator_call> || std::is_same_v<T, davit_change_source> ||
    std::is_same_v<T, davit_cluster_watcher> || std::is_same_v<T, davit_records_watcher> ||
    std::is_same_v<T, davit_rpc_handler> || std::is_same_v<T, davit_rpc_method>;

// A copy of a table, as long as this side knows it and no longer than the other side made it.
template <class S>
S* counted(const S* table) {
  static std::deque<S> kept;  // until the process ends
  S& copy = kept.emplace_back();
  std::memset(&copy, 0, sizeof copy);
  std::memcpy(&copy, table, std::min<size_t>(sizeof copy, table->struct_size));
  copy.struct_size = std::min<uint32_t>(sizeof copy, table->struct_size);
  return count(&copy);
}

template <class T>
T argument(T value) {
  return value;
}
template <class S>
const S* argument(const S* p) requires(struct_name<S> != nullptr) {
  if (p == nullptr) return p;
  saw(*p);
  if constexpr (is_callbacks<S>) return counted(p);
  return p;
}
template <class S>
S* argument(S* p) requires(!std::is_const_v<S> && struct_name<S> != nullptr) {
  if (p != nullptr) saw(*p);
  return p;
}
template <class S>
S* const* argument(S* const* p) requires(struct_name<std::remove_const_t<S>> != nullptr) {
  saw(**p);
  return p;
}
template <class R, class S>  // a visitor, or a function that gets the answer
auto argument(R (*f)(void*, const S*)) -> R (*)(void*, const S*) {
  if constexpr (struct_name<S> != nullptr) exercised().insert(struct_name<S>);
  return f;
}
template <class R, class S>  // a function that gets several
auto argument(R (*f)(void*, const S* const*, size_t)) -> R (*)(void*, const S* const*, size_t) {
  exercised().insert(struct_name<S>);
  return f;
}

template <auto Slot>
struct Before;
template <class S, class R, class... A, R (*S::*Slot)(A...)>
struct Before<Slot> {
  static inline R (*slot)(A...) = nullptr;
  static inline const char* name = nullptr;
  static R call(A... a) {
    exercised().insert(name);
    if constexpr (std::is_void_v<R>) {
      slot(argument(a)...);
    } else {
      return argument(slot(argument(a)...));
    }
  }
};

// Puts a function before each slot of the table, in place.
template <class S>
S* count(S* table) {
  exercised().insert(struct_name<S>);
#define ABI_POINTER(T, member)
#define ABI_POINTERS(T, member)
#define ABI_SLOT(T, member)                                      \
  if constexpr (std::is_same_v<S, T>) {                          \
    using B = Before<&T::member>;                                \
    if (table->member != nullptr && table->member != &B::call) { \
      B::name = #T "." #member;                                  \
      B::slot = table->member;                                   \
      table->member = &B::call;                                  \
    }                                                            \
  }
#include "abi_list.inc"
#undef ABI_SLOT
#undef ABI_STRUCT
  return table;
}

// The structs and slots that nobody has exercised.
inline std::set<std::string> neglected() {
  std::set<std::string> out = {
#define ABI_STRUCT(T, last) #T,
#define ABI_SLOT(T, member) #T "." #member,
#include "abi_list.inc"
  };
  for (const auto& name : exercised()) out.erase(name);
  return out;
}
#undef ABI_STRUCT
#undef ABI_SLOT

#ifndef DAVIT_LONGER
// No struct has unused bytes after its last member: a member that is appended lies behind the size
// of every older struct.
#define ABI_SLOT(T, member)
#define ABI_STRUCT(T, last)                                          \
  static_assert(sizeof(T) == offsetof(T, last) + sizeof(T::last), #T \
                " ends with unused bytes: "                          \
                "give them a `reserved`");
#include "abi_list.inc"
#undef ABI_STRUCT
#undef ABI_SLOT
#endif
#undef ABI_POINTER
#undef ABI_POINTERS

}  // namespace davit::test
