// No exception crosses the plugin ABI: the frames of the other side may be C, or of another C++
// runtime, and are not ready for one. Each function that the other side calls is one of three:
//
//  - A slot that returns an error: guard() (types.hpp) makes an INTERNAL error of an exception.
//  - A slot or callback that cannot return an error: must_not_throw() names the file and the slot
//    on stderr and calls std::terminate().
//  - A visitor or sink that the other side calls while a slot of it runs: a Visitor keeps the
//    exception, asks the slot to stop, and throws it on after the slot has returned.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <type_traits>
#include <utility>

namespace davit {

// Writes one line to stderr about an exception that nobody can be told of. It names the file that
// this code is linked into: the plugin's .so, or the program.
inline void report_exception(const char* slot, const char* what) noexcept {
  Dl_info file{};
  const bool known = dladdr(reinterpret_cast<const void*>(&report_exception), &file) != 0;
  std::fprintf(stderr, "davit: %s: exception in %s: %s\n",
               known && file.dli_fname != nullptr ? file.dli_fname : "?", slot, what);
}

// Runs the body of a slot or callback that cannot return an error, and returns what it returns. An
// exception is a bug: it is reported, and std::terminate() ends the process. The host's handler of
// that logs which instance was at work.
template <class F>
auto must_not_throw(const char* slot, F&& f) noexcept -> decltype(f()) {
  try {
    return f();
  } catch (const std::exception& e) {
    report_exception(slot, e.what());
    std::terminate();
  } catch (...) {
    report_exception(slot, "an exception of an unknown type");
    std::terminate();
  }
}

// A function of this side that a slot of the other side calls while it runs. It converts to the
// ABI's function pointer, and its address is the context:
//
//   Visitor visitor([&](const davit_record& r) { return wanted(r); });
//   auto r = checked([&](davit_error* e) { return table->read(..., visitor, &visitor, &page, e); },
//                    visitor);
//
// Arguments that the ABI passes as pointers to const arrive as references. Where the ABI's visitor
// returns a number, the function returns true to go on and false to stop. After an exception the
// function is not called again. Used by one call at a time.
template <class F>
class Visitor {
  template <class R, class... A>
  using Slot = R (*)(void*, A...);

 public:
  explicit Visitor(F f) : f_(std::move(f)) {}
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;

  template <class R, class... A>
  operator Slot<R, A...>() const {
    return &visit<R, A...>;
  }
  // Throws the exception that was kept, if there was one. Call it when the slot has returned;
  // checked() does so for the visitors that it is given.
  void rethrow() {
    if (kept_) std::rethrow_exception(std::exchange(kept_, nullptr));
  }

 private:
  template <class T>
  static const T& argument(const T* p) {
    return *p;
  }
  template <class T>
  static T argument(T value) requires(!std::is_pointer_v<T>) {
    return value;
  }
  template <class R, class... A>
  static R visit(void* self, A... a) noexcept {
    auto& v = *static_cast<Visitor*>(self);
    bool more = !v.kept_;
    if (more) {
      try {
        if constexpr (std::is_void_v<R>) {
          v.f_(argument(a)...);
        } else {
          more = v.f_(argument(a)...);
        }
      } catch (...) {
        v.kept_ = std::current_exception();
        more = false;
      }
    }
    if constexpr (!std::is_void_v<R>) return more ? 0 : 1;
  }

  F f_;
  std::exception_ptr kept_;
};

}  // namespace davit
