// Finds plugins by the name of their module and loads them. Only loader.cpp includes Boost.DLL.
//
// A plugin is never unloaded. Thread-local destructors, unwinder tables and static data that others
// point to would remain, and would crash the process without a visible cause.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "note.hpp"

namespace davit::host {

struct Module {
  std::string path;
  Note note;
  const davit_plugin* plugin = nullptr;  // static data of the shared object
};

// A file in a plugin folder, described by its note. `problem` says why it cannot be loaded here.
struct ListedModule {
  std::string name, path;
  Note note;
  std::string problem;
};

// More threads in one instance's pool are a mistake.
constexpr uint32_t pool_threads_most = 1024;

// Checks that an entry is complete, before the host calls any slot of it, and that it agrees with
// the note of its file.
Result<> check_entry(const davit_plugin*, const Note&);

class Loader {
 public:
  // Searches the directories in this order. The first that contains NAME.so wins.
  explicit Loader(std::vector<std::string> directories);
  ~Loader();

  // Loads a module once; later calls return the same one. Errors name the module and the path.
  // [main]
  Result<const Module*> load(std::string_view name);
  // Lists all modules by name without running any code of them. A name that an earlier folder
  // contains hides the later ones.
  std::vector<ListedModule> list() const;
  const std::vector<std::string>& directories() const { return directories_; }

  // The plugin folder of this installation, relative to the executable, so that an installation can
  // be moved.
  static std::string default_directory();

 private:
  struct Loaded;
  Result<std::unique_ptr<Loaded>> open(const std::string& path) const;
  Error missing(const std::string& name) const;

  std::vector<std::string> directories_;
  std::vector<std::unique_ptr<Loaded>> loaded_;
};

}  // namespace davit::host
