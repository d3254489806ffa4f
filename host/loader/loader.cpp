#include "loader.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "config/suggest.hpp"

namespace davit::host {
namespace fs = std::filesystem;

struct Loader::Loaded {
  Module module;
  boost::dll::shared_library library;
};

namespace {

Error fault(std::string message) {
  return {Code::failed_precondition, std::move(message), {}, {}};
}

Result<Note> note_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return fault(std::strerror(errno));
  std::ostringstream text;
  text << in.rdbuf();
  auto note = read_note(text.view());
  if (!note.ok()) return note;
  if (auto abi = check_abi(*note); !abi.ok()) return abi.error();
  if (note->name != fs::path(path).stem()) {
    return fault("calls itself \"" + note->name + "\": the file must be named " + note->name +
                 ".so");
  }
  return note;
}

// The table of the entry must be complete before the host calls any slot of it.
Result<> check_plugin(const davit_plugin* plugin, const Note& note) {
  if (plugin == nullptr) return fault("cannot live in this host");
  if (!DAVIT_HAS(plugin, query) || plugin->create == nullptr || plugin->destroy == nullptr ||
      plugin->query == nullptr) {
    return fault("its entry lacks create, destroy or query");
  }
  const auto differs = [](const std::string& what, const std::string& entry,
                          const std::string& in_note) {
    return fault("its entry says " + what + " \"" + entry + "\", its note \"" + in_note +
                 "\": rebuild it");
  };
  if (view(plugin->name) != note.name) return differs("name", text(plugin->name), note.name);
  if (view(plugin->version) != note.version)
    return differs("version", text(plugin->version), note.version);
  // The note says the lowest minor that it needs, the entry the minor that it was built with.
  if (plugin->abi_minor < note.abi_minor) {
    const std::string major = std::to_string(DAVIT_ABI_MAJOR) + ".";
    return differs("ABI", major + std::to_string(plugin->abi_minor),
                   major + std::to_string(note.abi_minor));
  }
  constexpr uint32_t most_threads = 1024;
  if (plugin->max_concurrency > most_threads) {
    return fault("max_concurrency must be at most " + std::to_string(most_threads) + ", not " +
                 std::to_string(plugin->max_concurrency));
  }
  return {};
}

bool is_module_name(std::string_view s) {
  return !s.empty() && s.size() <= 128 && std::all_of(s.begin(), s.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".so") out.push_back(it->path().stem().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

Loader::Loader(std::vector<std::string> directories) : directories_(std::move(directories)) {}
Loader::~Loader() = default;  // RTLD_NODELETE: closing a library does not unload it

std::string Loader::default_directory() {
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  return (executable.parent_path() / DAVIT_PLUGINS_FROM_BIN).lexically_normal().string();
}

Error Loader::missing(const std::string& name) const {
  std::string searched;
  std::vector<std::string> there;
  for (const std::string& directory : directories_) {
    searched += (searched.empty() ? "" : ", ") + directory;
    const auto names = names_in(directory);
    there.insert(there.end(), names.begin(), names.end());
  }
  const std::string near = nearest(name, there);
  return {Code::not_found,
          "module \"" + name + "\": no " + name + ".so in " + searched +
              (near.empty() ? "" : "; did you mean \"" + near + "\"?"),
          name,
          {}};
}

Result<std::unique_ptr<Loader::Loaded>> Loader::open(const std::string& path) const {
  auto note = note_of(path);
  if (!note.ok()) return note.error();
  auto loaded = std::make_unique<Loaded>();
  loaded->module.path = path;
  loaded->module.note = std::move(*note);

  using boost::dll::load_mode::type;
  const auto mode =
      static_cast<type>(boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local |
                        static_cast<type>(RTLD_NODELETE));
  boost::dll::fs::error_code problem;
  loaded->library.load(fs::absolute(path), problem, mode);
  if (problem) {
    const char* why = ::dlerror();
    return fault(why != nullptr ? std::string(why) : problem.message());
  }
  if (!loaded->library.has(DAVIT_PLUGIN_ENTRY)) {
    return fault("does not export " DAVIT_PLUGIN_ENTRY ": build it with davit_add_plugin()");
  }
  const auto entry =
      loaded->library.get<std::remove_pointer_t<davit_plugin_entry_fn>>(DAVIT_PLUGIN_ENTRY);
  davit_error error = empty_error();
  loaded->module.plugin = entry(DAVIT_ABI_MINOR, &error);
  if (loaded->module.plugin == nullptr && error.message[0] != '\0') return fault(error.message);
  if (auto whole = check_plugin(loaded->module.plugin, loaded->module.note); !whole.ok())
    return whole.error();
  return loaded;
}

Result<const Module*> Loader::load(std::string_view wanted) {
  const std::string name(wanted);
  for (const auto& loaded : loaded_) {
    if (loaded->module.note.name == name) return &std::as_const(loaded->module);
  }
  if (!is_module_name(name)) {
    return fault("module \"" + name +
                 "\": a module's name is lower_snake_case, without folder or \".so\"");
  }
  for (const std::string& directory : directories_) {
    const std::string path = (fs::path(directory) / (name + ".so")).string();
    std::error_code error;
    if (!fs::exists(path, error)) {
      if (!fs::is_symlink(fs::symlink_status(path, error))) continue;
      return fault("module \"" + name + "\": " + path + ": is a link to a file that is not there");
    }
    auto loaded = open(path);
    if (!loaded.ok()) return loaded.error().in("module \"" + name + "\": " + path);
    loaded_.push_back(std::move(*loaded));
    return &std::as_const(loaded_.back()->module);
  }
  return missing(name);
}

std::vector<ListedModule> Loader::list() const {
  std::vector<ListedModule> out;
  for (const std::string& directory : directories_) {
    for (const std::string& name : names_in(directory)) {
      const bool shadowed =
          std::any_of(out.begin(), out.end(), [&](const auto& m) { return m.name == name; });
      if (shadowed) continue;
      ListedModule module{name, (fs::path(directory) / (name + ".so")).string(), {}, {}};
      if (auto note = note_of(module.path); note.ok()) {
        module.note = std::move(*note);
      } else {
        module.problem = note.error().message;
      }
      out.push_back(std::move(module));
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return out;
}

}  // namespace davit::host
