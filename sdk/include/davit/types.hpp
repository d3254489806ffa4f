// The value types that every plugin uses: views of ABI strings, errors, results, buffers,
// operations. Nothing here throws, except std::bad_alloc, and Result::value() of an error.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "abi.h"
#include "exceptions.hpp"
#include "utf8.hpp"

namespace davit {

inline std::string_view view(davit_str s) {
  return {s.ptr == nullptr ? "" : s.ptr, s.len};
}
inline std::string_view view(davit_bytes b) {
  return {b.ptr == nullptr ? "" : reinterpret_cast<const char*>(b.ptr), b.len};
}
inline std::string text(davit_str s) {
  return std::string(view(s));
}
inline davit_str str(std::string_view s) {
  return {s.data(), s.size()};
}
inline davit_bytes bytes(std::string_view s) {
  return {reinterpret_cast<const uint8_t*>(s.data()), s.size()};
}

// The canonical gRPC codes. abi/core.h says what the caller should do about each.
enum class Code : int32_t {
  ok = DAVIT_OK,
  cancelled = DAVIT_CANCELLED,
  unknown = DAVIT_UNKNOWN,
  invalid_argument = DAVIT_INVALID_ARGUMENT,
  deadline_exceeded = DAVIT_DEADLINE_EXCEEDED,
  not_found = DAVIT_NOT_FOUND,
  already_exists = DAVIT_ALREADY_EXISTS,
  permission_denied = DAVIT_PERMISSION_DENIED,
  resource_exhausted = DAVIT_RESOURCE_EXHAUSTED,
  failed_precondition = DAVIT_FAILED_PRECONDITION,
  aborted = DAVIT_ABORTED,
  out_of_range = DAVIT_OUT_OF_RANGE,
  unimplemented = DAVIT_UNIMPLEMENTED,
  internal = DAVIT_INTERNAL,
  unavailable = DAVIT_UNAVAILABLE,
  data_loss = DAVIT_DATA_LOSS,
  unauthenticated = DAVIT_UNAUTHENTICATED,
};

// Whether the caller retries later, with back-off and not before Error::retry_after. Every other
// code says that the same call would fail again.
inline bool retryable(Code code) {
  return code == Code::cancelled || code == Code::deadline_exceeded ||
         code == Code::resource_exhausted || code == Code::aborted || code == Code::unavailable;
}

// What went wrong. `message` is lower case, has no full stop and names the thing. `where` says what
// the error is about (a configuration key, a field path, an object), or is empty.
struct Error {
  Code code = Code::internal;
  std::string message;
  std::string where = {};
  std::chrono::milliseconds retry_after{0};

  // The same error with context in front: "storage \"main\": " + message.
  [[nodiscard]] Error in(std::string_view context) const {
    Error e = *this;
    e.message = std::string(context) + ": " + message;
    return e;
  }
};

// A value or an error. Result<> is success without a value.
template <class T = std::monostate>
class [[nodiscard]] Result {
 public:
  Result() requires std::is_same_v<T, std::monostate> : held_(std::in_place_index<0>) {}
  Result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : held_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return held_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() { return std::get<0>(held_); }
  const T& value() const { return std::get<0>(held_); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  const Error& error() const { return std::get<1>(held_); }

 private:
  std::variant<T, Error> held_;
};

// --- crossing the boundary ---

// Writes `value` into the caller's struct, as far as the caller's is long: a caller that was built
// against an older header has a shorter one. What a longer one has behind `value` stays as it is.
// Every growing struct that a callee fills in is filled by this.
template <class T>
void put(T* out, T value) {
  value.struct_size = out->struct_size;
  std::memcpy(out, &value, value.struct_size < sizeof value ? value.struct_size : sizeof value);
}

// An empty struct for a callee to fill in.
template <class T>
T to_fill() {
  T out{};
  out.struct_size = sizeof out;
  return out;
}

inline int32_t fill(davit_error* out, const Error& e) {
  if (out != nullptr) {
    auto copy = [](char* to, size_t size, std::string_view from) {
      const std::string_view held = cut_utf8(from, size - 1);
      std::memcpy(to, held.data(), held.size());
      to[held.size()] = '\0';
    };
    out->code = static_cast<int32_t>(e.code);
    out->retry_after_ms = static_cast<uint32_t>(e.retry_after.count());
    copy(out->where, sizeof out->where, e.where);
    copy(out->message, sizeof out->message, e.message);
  }
  return static_cast<int32_t>(e.code);
}

inline Error take(const davit_error& e, int32_t code) {
  return {static_cast<Code>(code), e.message, e.where, std::chrono::milliseconds(e.retry_after_ms)};
}

// Runs `body`, which returns a Result<>, and lets no exception out. An exception means a bug and
// becomes INTERNAL with its text.
template <class Body>
int32_t guard(davit_error* out, Body&& body) noexcept {
  try {
    Result<> r = body();
    return r.ok() ? DAVIT_OK : fill(out, r.error());
  } catch (const std::exception& e) {
    return fill(out, {Code::internal, std::string("exception: ") + e.what()});
  } catch (...) {
    return fill(out, {Code::internal, "exception of an unknown type"});
  }
}

// Calls `f(davit_error*)`, which calls an ABI slot and returns its code, and makes a Result of it.
// The visitors and sinks are those that the slot was given: what one of them threw is thrown on.
template <class F, class... Visitors>
Result<> checked(F&& f, Visitors&... visitors) {
  davit_error e{};
  const int32_t code = f(&e);
  (visitors.rethrow(), ...);
  if (code == DAVIT_OK) return {};
  return take(e, code);
}

// A davit_sink that collects bytes into a string. Give it to checked() beside the slot.
class StringSink {
  struct Append {
    std::string* text;
    void operator()(davit_bytes b) const { *text += view(b); }
  };

 public:
  StringSink() : write_(Append{&text_}), sink_{&write_, write_} {}
  StringSink(const StringSink&) = delete;
  StringSink& operator=(const StringSink&) = delete;
  const davit_sink* get() const { return &sink_; }
  std::string take() { return std::move(text_); }
  void rethrow() { write_.rethrow(); }

 private:
  std::string text_;
  Visitor<Append> write_;
  davit_sink sink_;
};

inline void emit(const davit_sink* sink, std::string_view s) {
  sink->write(sink->ctx, bytes(s));
}

// A shared, immutable buffer: one reference to a davit_buf. Copies share the bytes. Any thread.
class Buffer {
 public:
  Buffer() = default;
  // Adds a reference.
  explicit Buffer(davit_buf* b) : buf_(b) {
    if (buf_ != nullptr) buf_->retain(buf_);
  }
  Buffer(const Buffer& o) : Buffer(o.buf_) {}
  Buffer(Buffer&& o) noexcept : buf_(std::exchange(o.buf_, nullptr)) {}
  Buffer& operator=(Buffer o) noexcept {
    std::swap(buf_, o.buf_);
    return *this;
  }
  ~Buffer() {
    if (buf_ != nullptr) buf_->release(buf_);
  }

  // Moves the string into a new buffer, without copying.
  static Buffer of(std::string s);

  explicit operator bool() const { return buf_ != nullptr; }
  davit_buf* get() const { return buf_; }
  std::string_view view() const {
    return buf_ == nullptr
               ? std::string_view{}
               : std::string_view{reinterpret_cast<const char*>(buf_->data), buf_->size};
  }
  size_t size() const { return buf_ == nullptr ? 0 : buf_->size; }

 private:
  davit_buf* buf_ = nullptr;
};

namespace detail {
struct OwnedBuf {
  davit_buf abi{};  // first: the ABI sees a pointer to it
  std::string data;
  std::atomic<uint32_t> references{0};

  explicit OwnedBuf(std::string s) : data(std::move(s)) {
    abi.struct_size = sizeof abi;
    abi.data = reinterpret_cast<const uint8_t*>(data.data());
    abi.size = data.size();
    abi.retain = [](davit_buf* b) {
      reinterpret_cast<OwnedBuf*>(b)->references.fetch_add(1, std::memory_order_relaxed);
    };
    abi.release = [](davit_buf* b) {
      auto* self = reinterpret_cast<OwnedBuf*>(b);
      if (self->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete self;
    };
  }
};
}  // namespace detail

inline Buffer Buffer::of(std::string s) {
  return Buffer(&(new detail::OwnedBuf(std::move(s)))->abi);
}

// The context of one long call, for its callee: deadline and cancellation. It borrows the caller's
// davit_op. OnCancel (operation.hpp) tells of the cancellation.
class Op {
 public:
  // One that is never cancelled and has no deadline.
  Op() : abi_(&endless()) {}
  explicit Op(const davit_op* abi) : abi_(abi) {}
  bool cancelled() const { return abi_->cancelled(abi_) != 0; }
  int64_t deadline_ns() const { return abi_->deadline_ns; }
  std::string_view trace() const { return view(abi_->trace); }
  const davit_op* abi() const { return abi_; }

 private:
  static const davit_op& endless() {
    // The watch is any address but NULL: nothing is kept of a registration.
    static const davit_op op = {
        sizeof(davit_op),
        0,
        INT64_MAX,
        [](const davit_op*) -> int32_t { return 0; },
        {},
        [](const davit_op*, void (*)(void*), void*) {
          return reinterpret_cast<davit_op_watch*>(const_cast<davit_op*>(&op));
        },
        [](const davit_op*, davit_op_watch*) {}};
    return op;
  }
  const davit_op* abi_;
};

// Why the callee gives up: CANCELLED or DEADLINE_EXCEEDED. Nothing: the caller still waits.
inline std::optional<Error> given_up(const Op& op, std::chrono::nanoseconds now) {
  if (op.cancelled()) return Error{Code::cancelled, "the caller has given up"};
  if (op.deadline_ns() > now.count()) return std::nullopt;
  return Error{Code::deadline_exceeded, "the deadline has passed"};
}

// How a server ends what it no longer serves because it stops: the caller tries again.
inline Error shutting_down() {
  return {Code::unavailable, "the server is shutting down"};
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

// Pairs in ABI form; valid while `pairs` lives unchanged.
inline std::vector<davit_pair> to_abi(const Pairs& pairs) {
  std::vector<davit_pair> out;
  out.reserve(pairs.size());
  for (const auto& [key, value] : pairs) out.push_back({str(key), str(value)});
  return out;
}
inline Pairs from_abi(const davit_pair* pairs, size_t count) {
  Pairs out;
  out.reserve(count);
  for (size_t i = 0; i < count; ++i) out.emplace_back(view(pairs[i].key), view(pairs[i].value));
  return out;
}

}  // namespace davit
