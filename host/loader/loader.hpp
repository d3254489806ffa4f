// Finds plugins by the name of their module and loads them. Boost.DLL is seen in loader.cpp only.
//
// A plugin is never unloaded: what it left behind (thread-local destructors, unwinder tables,
// static data that others point to) would be a crash without a cause.
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

// What stands in a plugin folder, as its note says; `problem` when it cannot be loaded here.
struct ListedModule {
  std::string name, path;
  Note note;
  std::string problem;
};

class Loader {
 public:
  // Searched in this order; the first that has NAME.so wins.
  explicit Loader(std::vector<std::string> directories);
  ~Loader();

  // Once per name; the same again gives the same. Errors name module and path. [main]
  Result<const Module*> load(std::string_view name);
  // Without running any of them, by name; a name that an earlier folder has already is left out.
  std::vector<ListedModule> list() const;
  const std::vector<std::string>& directories() const { return directories_; }

  // Where the plugins of this installation are: seen from the executable, so that an installation
  // can be moved.
  static std::string default_directory();

 private:
  struct Loaded;
  Result<std::unique_ptr<Loaded>> open(const std::string& path) const;
  Error missing(const std::string& name) const;

  std::vector<std::string> directories_;
  std::vector<std::unique_ptr<Loaded>> loaded_;
};

}  // namespace davit::host
