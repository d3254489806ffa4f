// What every thread does at the moment, and for which instance. The host enters a Step wherever it
// calls a plugin: for a step of an instance's life, a task of a strand or a pool, a slot of a role.
// From the steps it names the guilty when a plugin does not return (assembly/watchdog.hpp) or ends
// the process (death.hpp).
//
// Entering and leaving a Step is a few stores to memory of the thread's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace davit::host {

// An instance, as diagnostics name it. It is never freed, so that a signal handler can read it.
struct Party {
  explicit Party(std::string_view name) : instance(name) {}
  const std::string instance;
  std::atomic<const char*> module{""};  // static text; empty until the module is known
};
// The party of this instance: always the same one. [any]
Party& party(std::string_view instance);
// Says of which module the instance is. [any]
void set_module(Party&, std::string_view module);

class Step {
 public:
  // How long a step may take depends on what it is.
  enum class Kind : uint8_t {
    life,           // create, wire, check, start, stop, destroy
    task,           // of a strand: must not block
    job,            // of a pool, or a copy of a store: takes as long as it takes
    blocking_call,  // of a role whose calls block, but end
    call,           // of another role: its time is counted to the step around it
  };
  // `what` is static text, such as "create" or "storage.commit".
  Step(Kind, const Party& who, const char* what) noexcept;
  ~Step();
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  struct Seen {
    const Party* who;  // the innermost step's
    const char* what;
    const Party* caller;            // the instance around it; nullptr: the host
    Kind kind;                      // of the innermost step that is not a `call`
    std::chrono::nanoseconds held;  // since that one began
    uint64_t number;                // that one's; no other step of the process has it
    // `storage.commit of "main", called by "recorder"`
    std::string text() const;
  };
  // Of this thread. Async-signal-safe.
  static std::optional<Seen> here() noexcept;
  // What this thread is in: the kind of its innermost step that is not a `call`. Nothing: it is in
  // none. It costs less than here().
  static std::optional<Kind> around() noexcept;
  // Of all threads that are in a step. A thread that enters or leaves one meanwhile may be left
  // out. [any]
  static std::vector<Seen> all();
  // The step that is under way for the longest time of those that `counts` accepts. [any]
  template <class Counts>
  static std::optional<Seen> oldest(Counts counts) {
    std::optional<Seen> out;
    for (const Seen& seen : all()) {
      if (counts(seen) && (!out || seen.held > out->held)) out = seen;
    }
    return out;
  }

 private:
  struct Thread;
  struct Threads;
  struct Leaver;
  static Threads& threads();
  static std::optional<Seen> read(const Thread&) noexcept;
  static Thread& join();
  static thread_local constinit Thread* this_thread_;
};

}  // namespace davit::host
