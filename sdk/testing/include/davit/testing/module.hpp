// A plugin under test: Loaded is its .so, and Instance is one instance of it from create to
// destroy.
//
// A class that is linked into the test needs no .so. Instance takes any davit_plugin, such as
// davit::detail::Plugin<Applier>::entry("applier", "0", "").
#pragma once

#include "host.hpp"

namespace davit::testing {

// The content of the ELF note.
struct Note {
  std::string abi, name, version;
  std::vector<std::string> roles, needs;  // "storage/1", "rpc/1"
  bool states_needs = false;              // there is the line, though it may be empty
};
Result<Note> read_note(const std::string& path);
// The symbols that a shared object exports.
Result<std::vector<std::string>> exported_symbols(const std::string& path);

class Loaded {
 public:
  // Opens the file as the host does (RTLD_NOW, RTLD_LOCAL, RTLD_NODELETE) and calls its entry.
  static Result<Loaded> open(const std::string& path);
  const davit_plugin* plugin() const { return plugin_; }
  const Note& note() const { return note_; }
  const std::string& path() const { return path_; }

 private:
  Loaded(std::string path, Note note, const davit_plugin* plugin)
      : path_(std::move(path)), note_(std::move(note)), plugin_(plugin) {}
  std::string path_;
  Note note_;
  const davit_plugin* plugin_;
};

// The host's limit of a start (core.h).
inline constexpr std::chrono::seconds start_limit{60};

// The steps of an instance's life. The destructor stops an instance that was started, and destroys
// one that was created.
class Instance {
 public:
  Instance(const davit_plugin* plugin, TestHost& host) : plugin_(plugin), host_(host) {}
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  // Fails as in the host, also when the plugin has not the slots that it must have (contract.hpp),
  // when there is no instance, and when the configuration has faults. The message then has all of
  // them, one a line. After success, look-ups find the instance under the name of its host.
  Result<> create();
  Result<> wire();
  Result<> check(std::chrono::nanoseconds limit = std::chrono::seconds(10));
  Result<> start(std::chrono::nanoseconds limit = start_limit);
  Result<> stop(std::chrono::nanoseconds limit = std::chrono::seconds(10));
  // create, wire and start.
  Result<> up();
  void destroy();

  bool wired() const { return wired_; }
  bool started() const { return started_; }
  davit_instance* get() const { return instance_; }
  const davit_plugin* plugin() const { return plugin_; }
  // NULL when the instance does not play the role.
  template <class Vtable>
  const Vtable* role(std::string_view id) const {
    return static_cast<const Vtable*>(plugin_->query(instance_, str(id)));
  }
  davit_ref ref(std::string_view id) const;

 private:
  using Step = int32_t (*)(davit_instance*, const davit_op*, davit_error*);
  Result<> timed(Step step, std::chrono::nanoseconds limit);
  const davit_plugin* plugin_;
  TestHost& host_;
  davit_instance* instance_ = nullptr;
  bool wired_ = false, started_ = false;
};

}  // namespace davit::testing
