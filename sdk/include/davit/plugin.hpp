// The entry of a plugin in C++. A plugin is one class and one macro:
//
//   class Naive {
//    public:
//     using roles = davit::Roles<davit::storage::Role>;
//     explicit Naive(davit::Host host);       // reads Settings
//     davit::Result<> wire();                 // optional, as are check, start and stop
//     davit::Result<> check(const davit::Op&);
//     davit::Result<> start(const davit::Op&);
//     davit::Result<> stop(const davit::Op&);
//     ... the role's methods
//   };
//   DAVIT_PLUGIN(Naive, "storage_naive", "0.1.0", "keeps records in a map")
//
// `static constexpr uint32_t max_concurrency` says how many blocking calls the instance takes at
// once; without it, one. With pool_threads_min and pool_threads_max beside it, operators may choose
// another number from that range (`pool_threads` in [plugin.NAME]).
//
// A constructor reports a bad setting by Settings::reject. A constructor that fails for another
// reason throws davit::Failure. Every other exception is a bug. Out of a step of the instance's
// life, or out of a slot that returns an error, it becomes an INTERNAL error. Out of any other slot
// or callback it ends the process (exceptions.hpp).
#pragma once

#include "settings.hpp"

namespace davit {

// A plugin's constructor throws it when it cannot make the instance.
struct Failure : std::exception {
  Error error;
  explicit Failure(Error e) : error(std::move(e)) {}
  const char* what() const noexcept override { return error.message.c_str(); }
};

// The roles that an instance plays. Each R has `id` and `vtable<T>()`.
template <class... R>
struct Roles {
  template <class T>
  static const void* find([[maybe_unused]] std::string_view id) {
    const void* found = nullptr;
    ((id == R::id ? void(found = R::template vtable<T>()) : void()), ...);
    return found;
  }
};

namespace detail {

template <class T>
T& object(davit_instance* i) {
  return *reinterpret_cast<T*>(i);
}

template <class T>
struct Plugin {
  static int32_t create(const davit_host* host, davit_instance** out, davit_error* error) {
    return guard(error, [&]() -> Result<> {
      try {
        *out = reinterpret_cast<davit_instance*>(new T(Host(host)));
        return {};
      } catch (const Failure& f) {
        return f.error;
      }
    });
  }
  static int32_t wire(davit_instance* i, davit_error* error) {
    return guard(error, [&]() -> Result<> {
      if constexpr (requires(T & t) { t.wire(); }) return object<T>(i).wire();
      return {};
    });
  }
  static int32_t check(davit_instance* i, const davit_op* op, davit_error* error) {
    return guard(error, [&]() -> Result<> {
      if constexpr (requires(T & t, Op o) { t.check(o); }) return object<T>(i).check(Op(op));
      return {};
    });
  }
  static int32_t start(davit_instance* i, const davit_op* op, davit_error* error) {
    return guard(error, [&]() -> Result<> {
      if constexpr (requires(T & t, Op o) { t.start(o); }) return object<T>(i).start(Op(op));
      return {};
    });
  }
  static int32_t stop(davit_instance* i, const davit_op* op, davit_error* error) {
    return guard(error, [&]() -> Result<> {
      if constexpr (requires(T & t, Op o) { t.stop(o); }) return object<T>(i).stop(Op(op));
      return {};
    });
  }
  static void destroy(davit_instance* i) {
    must_not_throw("davit_plugin.destroy", [&] { delete &object<T>(i); });
  }
  static const void* query(davit_instance*, davit_str id) {
    return must_not_throw("davit_plugin.query",
                          [&] { return T::roles::template find<T>(view(id)); });
  }

  static uint32_t max_concurrency() {
    if constexpr (requires { T::max_concurrency; }) return T::max_concurrency;
    return 1;
  }
  static uint32_t pool_threads_min() {
    if constexpr (requires { T::pool_threads_min; }) return T::pool_threads_min;
    return 0;
  }
  static uint32_t pool_threads_max() {
    if constexpr (requires { T::pool_threads_max; }) return T::pool_threads_max;
    return 0;
  }

  static const davit_plugin* entry(const char* name, const char* version, const char* summary) {
    static const davit_plugin plugin = {sizeof(davit_plugin),
                                        DAVIT_ABI_MINOR,
                                        0,
                                        str(name),
                                        str(version),
                                        str(summary),
                                        max_concurrency(),
                                        pool_threads_min(),
                                        pool_threads_max(),
                                        0,
                                        &create,
                                        &wire,
                                        &check,
                                        &start,
                                        &stop,
                                        &destroy,
                                        &query};
    return &plugin;
  }
};

}  // namespace detail
}  // namespace davit

#define DAVIT_PLUGIN(Class, name, version, summary)                                           \
  extern "C" DAVIT_EXPORT const davit_plugin* davit_plugin_entry_v1(uint32_t, davit_error*) { \
    return davit::detail::Plugin<Class>::entry(name, version, summary);                       \
  }
