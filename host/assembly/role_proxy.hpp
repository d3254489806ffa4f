// The table of a role as the other instances and the host get it. Each slot passes its call on to
// the plugin. On the way it
//  - enters a Step, so that a plugin that hangs or ends the process is named, and not its caller;
//  - refuses a call that may block where nothing may block (Place::pool), and names the caller;
//  - turns an exception of a slot with an error into INTERNAL, and so an answer that cannot be;
//  - refuses calls into an instance that has stopped, if the calls of the role block.
// contract.hpp lists the slots.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>
#include <type_traits>

#include "contract.hpp"

namespace davit::host {

class RoleProxy {
 public:
  // `table` is the plugin's, and has been judged.
  RoleProxy(const Contract&, const Party& who, davit_instance* self, const void* table);
  RoleProxy(const RoleProxy&) = delete;
  RoleProxy& operator=(const RoleProxy&) = delete;

  // What a caller gets. Valid as long as the proxy. The name is the instance's.
  davit_ref ref() const;

  // From now on calls are refused, if the calls of this role block. Waits until those that run have
  // ended. False: the deadline passed first.
  bool close(std::chrono::steady_clock::time_point deadline);

  // --- for the slots ---
  const Party& who() const { return who_; }
  Step::Kind kind() const { return contract_.kind; }
  davit_instance* self() const { return self_; }
  const void* table() const { return table_; }
  // A call that blocks enters and leaves. False: the instance has stopped.
  bool enter();
  void leave();

 private:
  const Contract& contract_;
  const Party& who_;
  davit_instance* const self_;
  const void* const table_;
  std::unique_ptr<uint64_t[]> own_table_;  // as the plugin's, with the slots replaced
  std::mutex mutex_;
  std::condition_variable left_;
  size_t inside_ = 0;
  bool closed_ = false;
};

// Where a slot may be called.
enum class Place {
  by_role,   // not checked
  anywhere,  // it never blocks, whatever its role's calls do
  pool       // on a pool: not in a task of a strand, and not within a call of a store
};
// INTERNAL names the caller and what it is in, when this thread may not call a slot of Place::pool.
std::optional<Error> misplaced(const RoleProxy&, const char* slot);

// A name as a template's argument.
template <size_t N>
struct SlotName {
  constexpr SlotName(const char (&from)[N]) {
    for (size_t i = 0; i < N; ++i) text[i] = from[i];
  }
  char text[N];
};

// What the host checks of a slot's answer, by a specialisation with `fault(arguments...)`: static
// text, or NULL when the answer can be.
template <auto Member>
struct Answer {};

// One slot of a RoleProxy.
template <auto Member, SlotName Name, Place Where>
struct Forward;
template <class Table, class R, class... A, R (*Table::*Member)(davit_instance*, A...),
          SlotName Name, Place Where>
struct Forward<Member, Name, Where> {
  static R call(davit_instance* proxy, A... args) noexcept {
    RoleProxy& p = *reinterpret_cast<RoleProxy*>(proxy);
    const auto slot = static_cast<const Table*>(p.table())->*Member;
    if constexpr (Where == Place::pool) {
      if (const auto error = misplaced(p, Name.text)) return fail(*error, args...);
    }
    const Step::Kind kind = Where == Place::anywhere ? Step::Kind::call : p.kind();
    const Step step(kind, p.who(), Name.text);
    if (kind == Step::Kind::call) return pass(p, slot, args...);
    if (!p.enter()) return refuse(p, args...);
    const Leaving leaving{p};
    return pass(p, slot, args...);
  }

 private:
  struct Leaving {
    RoleProxy& proxy;
    ~Leaving() { proxy.leave(); }
  };
  static constexpr bool has_error = [] {
    if constexpr (sizeof...(A) > 0)
      return std::is_same_v<std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>, davit_error*>;
    return false;
  }();

  // A slot without an error has no way to say that it failed: its exception ends the process.
  template <class S>
  static R pass(RoleProxy& p, S slot, A... args) {
    if constexpr (has_error) {
      const auto threw = [&](const char* what) {
        return fail({Code::internal, fault(p) + " threw an exception through the ABI: " + what},
                    args...);
      };
      try {
        const int32_t code = slot(p.self(), args...);
        if constexpr (requires { Answer<Member>::fault(args...); }) {
          const char* const wrong = code == DAVIT_OK ? Answer<Member>::fault(args...) : nullptr;
          if (wrong != nullptr) return fail({Code::internal, fault(p) + wrong}, args...);
        }
        return code;
      } catch (const std::exception& e) {
        return threw(e.what());
      } catch (...) {
        return threw("of an unknown type");
      }
    } else {
      return slot(p.self(), args...);
    }
  }
  static R refuse(const RoleProxy& p, A... args) {
    if constexpr (has_error) {
      return fail({Code::unavailable, "plugin \"" + p.who().instance +
                                          "\" has stopped: " + Name.text + " is called too late"},
                  args...);
    } else {
      return R();
    }
  }
  static std::string fault(const RoleProxy& p) {
    return "a fault of plugin \"" + p.who().instance + "\": " + Name.text;
  }
  static int32_t fail(const Error& error, A... args) {
    return fill(std::get<sizeof...(A) - 1>(std::tuple<A...>(args...)), error);
  }
};

}  // namespace davit::host
