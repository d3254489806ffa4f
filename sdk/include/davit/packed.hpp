// Records, statuses and progress as bytes, for storage backends on files and key-value stores.
// pack() gives the bytes of a value, and unpack_...() the value again. Any thread may call these
// functions; they keep nothing.
//
// The bytes are the letter of the type, the version of the format (1), a CRC-32C of all the rest in
// four bytes (the lowest first), and the members. A member is a tag, a length and a content; tag,
// length and numbers are LEB128. A member that is empty or 0 is left out, and a list is one member
// for each element. What a later SDK adds gets a new tag, which an earlier one passes over: so old
// processes read what new ones have written, but lose what they do not know when they write it
// again. A change that earlier SDKs must not pass over gets another version, which they refuse.
//
// Errors are DATA_LOSS: the bytes are cut, changed or of another type, or their version is later.
#pragma once

#include <array>

#include "records.hpp"

namespace davit::packed {

// The CRC-32C of the text; `crc` is that of what stands before it.
inline uint32_t crc32c(std::string_view text, uint32_t crc = 0) {
  static constexpr auto table = [] {
    std::array<uint32_t, 256> out{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ ((c & 1) != 0 ? 0x82f63b78u : 0u);
      out[i] = c;
    }
    return out;
  }();
  crc = ~crc;
  for (const char c : text) crc = table[(crc ^ static_cast<uint8_t>(c)) & 0xff] ^ (crc >> 8);
  return ~crc;
}

namespace detail {

inline void put_number(std::string& out, uint64_t n) {
  for (; n >= 0x80; n >>= 7) out += static_cast<char>(n | 0x80);
  out += static_cast<char>(n);
}

// Takes a number from the front of `text`. False: there is none.
inline bool take_number(std::string_view& text, uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(text.front());
    text.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    out |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

template <class Value>
inline constexpr bool is_number = false;
template <class Purpose>
inline constexpr bool is_number<Number<Purpose>> = true;

// The members of each type, once for both ways. A tag is never given again.
template <class Coder, class Value>
void members(Coder& c, Value& v) {
  using T = std::remove_const_t<Value>;
  if constexpr (std::is_same_v<T, std::pair<std::string, std::string>>) {
    c.at(1, v.first), c.at(2, v.second);
  } else if constexpr (std::is_same_v<T, Key>) {
    c.at(1, v.kind), c.at(2, v.region), c.at(3, v.id);
  } else if constexpr (std::is_same_v<T, Cursor>) {
    c.at(1, v.incarnation), c.at(2, v.version);
  } else if constexpr (std::is_same_v<T, Record>) {
    c.at(1, v.key), c.at(2, v.ns), c.at(3, v.name), c.at(4, v.state), c.at(5, v.version);
    c.at(6, v.live), c.at(7, v.payload), c.at(8, v.json), c.at(9, v.committed_at_unix_ms);
    c.at(10, v.author), c.at(11, v.request_id), c.each(12, v.annotations);
  } else if constexpr (std::is_same_v<T, Child>) {
    c.at(1, v.name), c.at(2, v.address), c.at(3, v.status);
    c.at(4, v.cpu_millicores), c.at(5, v.memory_mib);
  } else if constexpr (std::is_same_v<T, Status>) {
    c.at(1, v.key), c.at(2, v.gone), c.at(3, v.observed_version), c.at(4, v.observed_incarnation);
    c.at(5, v.health), c.at(6, v.desired), c.at(7, v.updated), c.at(8, v.ready), c.at(9, v.stale);
    c.at(10, v.message), c.at(11, v.parked), c.each(12, v.children), c.at(13, v.detail);
    c.at(14, v.epoch), c.at(15, v.sequence), c.at(16, v.status_version);
    c.at(17, v.reported_at_unix_ms), c.at(18, v.ns), c.at(19, v.name);
  } else if constexpr (std::is_same_v<T, KindProgress>) {
    c.at(1, v.kind), c.at(2, v.applied);
  } else if constexpr (std::is_same_v<T, Issue>) {
    c.at(1, v.kind), c.at(2, v.id), c.at(3, v.ns), c.at(4, v.name), c.at(5, v.version);
    c.at(6, v.condition), c.at(7, v.reason), c.at(8, v.incarnation);
  } else {
    static_assert(std::is_same_v<T, Progress>);
    c.at(1, v.region), c.at(2, v.agent), c.at(3, v.software), c.at(4, v.epoch);
    c.each(5, v.kinds), c.each(6, v.issues), c.at(7, v.seen_at_unix_ms), c.at(8, v.sequence);
  }
}

struct Packer {
  std::string out;

  void content(uint64_t tag, std::string_view bytes) {
    put_number(out, tag);
    put_number(out, bytes.size());
    out += bytes;
  }
  template <class Value>
  void at(uint64_t tag, const Value& v) {
    if constexpr (std::is_same_v<Value, std::string>) {
      if (!v.empty()) content(tag, v);
    } else if constexpr (is_number<Value>) {
      at(tag, v.value());
    } else if constexpr (std::is_integral_v<Value>) {
      std::string number;
      put_number(number, static_cast<uint64_t>(v));
      if (v != 0) content(tag, number);
    } else {
      const std::string inner = of(v);
      if (!inner.empty()) content(tag, inner);
    }
  }
  template <class List>
  void each(uint64_t tag, const List& list) {
    for (const auto& v : list) content(tag, of(v));
  }
  template <class Value>
  static std::string of(const Value& v) {
    Packer inner;
    members(inner, v);
    return std::move(inner.out);
  }
};

// Reads one member after another: each is offered to all places, and the one with its tag takes it.
struct Unpacker {
  uint64_t tag = 0;
  std::string_view found;
  bool broken = false;

  template <class Value>
  void at(uint64_t own, Value& v) {
    if (own != tag) return;
    if constexpr (std::is_same_v<Value, std::string>) {
      v = std::string(found);
    } else if constexpr (is_number<Value>) {
      uint64_t number = 0;
      at(own, number);
      v = Value(number);
    } else if constexpr (std::is_integral_v<Value>) {
      uint64_t number = 0;
      std::string_view rest = found;
      broken = broken || !take_number(rest, number) || !rest.empty();
      v = static_cast<Value>(number);
    } else {
      broken = broken || !into(found, v);
    }
  }
  template <class List>
  void each(uint64_t own, List& list) {
    if (own == tag) at(own, list.emplace_back());
  }
  template <class Value>
  static bool into(std::string_view text, Value& v) {
    Unpacker one;
    while (!text.empty() && !one.broken) {
      uint64_t size = 0;
      if (!take_number(text, one.tag) || !take_number(text, size) || size > text.size())
        return false;
      one.found = text.substr(0, size);
      text.remove_prefix(size);
      members(one, v);
    }
    return !one.broken;
  }
};

inline constexpr size_t head_bytes = 6;
inline constexpr char format = 1;

// The members with what stands in front of them.
inline std::string seal(char type, std::string_view members) {
  std::string out{type, format};
  const uint32_t crc = crc32c(members, crc32c(out));
  for (unsigned shift = 0; shift < 32; shift += 8) out += static_cast<char>(crc >> shift);
  return out.append(members);
}

inline Error lost(std::string what) {
  return {Code::data_loss, std::move(what)};
}

template <class Value>
Result<Value> unpack(char type, const char* what, std::string_view bytes) {
  const std::string name = std::string("a packed ") + what;
  if (bytes.size() < head_bytes)
    return lost(name + " is cut: " + std::to_string(bytes.size()) + " bytes");
  if (bytes[0] != type) return lost("these bytes are not " + name);
  if (bytes[1] != format) {
    return lost(name + " is of format " + std::to_string(static_cast<uint8_t>(bytes[1])) +
                ", and this SDK knows only 1");
  }
  const std::string_view inner = bytes.substr(head_bytes);
  if (seal(type, inner) != bytes) return lost(name + " is damaged: its checksum is wrong");
  Value out{};
  if constexpr (std::is_same_v<Value, Record>) out.live = false;
  if (!Unpacker::into(inner, out)) return lost(name + " is malformed");
  return out;
}

}  // namespace detail

inline std::string pack(const Record& r) {
  return detail::seal('r', detail::Packer::of(r));
}
inline std::string pack(const Status& s) {
  return detail::seal('s', detail::Packer::of(s));
}
inline std::string pack(const Progress& p) {
  return detail::seal('p', detail::Packer::of(p));
}

inline Result<Record> unpack_record(std::string_view bytes) {
  return detail::unpack<Record>('r', "record", bytes);
}
inline Result<Status> unpack_status(std::string_view bytes) {
  return detail::unpack<Status>('s', "status", bytes);
}
inline Result<Progress> unpack_progress(std::string_view bytes) {
  return detail::unpack<Progress>('p', "progress", bytes);
}

}  // namespace davit::packed
