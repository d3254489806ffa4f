#include "loader.hpp"

#define BOOST_DLL_USE_STD_FS
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>
#include <filesystem>

#include "config/suggest.hpp"

namespace davit::host {
namespace fs = std::filesystem;

struct Loader::Loaded {
  Module module;
  boost::dll::shared_library library;
};

namespace {

Error fault(std::string message) {
  return {Code::failed_precondition, std::move(message)};
}

// Whoever can replace a plugin can run code as this process.
Result<> check_writers(const fs::path& file) {
  for (const fs::path& path : {file.parent_path(), file}) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || (status.st_mode & S_IWOTH) == 0) continue;
    return fault(path.string() + " can be written by every user, who could put code there: " +
                 "chmod o-w " + path.string());
  }
  return {};
}

// Maps the file, because few of its pages are looked at.
Result<Note> read_note_of(const std::string& path) {
  namespace ipc = boost::interprocess;
  try {
    const ipc::file_mapping file(path.c_str(), ipc::read_only);
    std::error_code error;
    // A folder, or an empty file, cannot be mapped.
    if (!fs::is_regular_file(path, error) || fs::is_empty(path, error)) return read_note({});
    const ipc::mapped_region bytes(file, ipc::read_only);
    return read_note({static_cast<const char*>(bytes.get_address()), bytes.get_size()});
  } catch (const ipc::interprocess_exception& e) {
    return fault(e.what());
  }
}

Result<Note> note_of(const std::string& path) {
  if (auto safe = check_writers(path); !safe.ok()) return safe.error();
  auto note = read_note_of(path);
  if (!note.ok()) return note;
  if (auto fits = check_note(*note); !fits.ok()) return fits.error();
  if (note->name != fs::path(path).stem()) {
    return fault("calls itself \"" + note->name + "\": the file must be named " + note->name +
                 ".so");
  }
  return note;
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

Result<> check_entry(const davit_plugin* plugin, const Note& note) {
  if (plugin == nullptr) return fault("cannot live in this host");
  if (!DAVIT_HAS(plugin, query) || plugin->create == nullptr || plugin->destroy == nullptr ||
      plugin->query == nullptr) {
    return fault("its entry lacks create, destroy or query");
  }
  const auto differ = [](std::string_view entry, std::string_view said) {
    return fault("its entry says \"" + std::string(entry) + "\", its note \"" + std::string(said) +
                 "\": build both by one davit_add_plugin()");
  };
  if (view(plugin->name) != note.name) return differ(view(plugin->name), note.name);
  if (view(plugin->version) != note.version) return differ(view(plugin->version), note.version);
  if (plugin->abi_minor < note.abi_minor) {
    return differ("ABI 1." + std::to_string(plugin->abi_minor),
                  "ABI 1." + std::to_string(note.abi_minor));
  }
  const uint32_t usual = std::max(1U, plugin->max_concurrency);
  const bool fixed = plugin->pool_threads_min == 0 && plugin->pool_threads_max == 0;
  const bool in_range = plugin->pool_threads_min <= usual && usual <= plugin->pool_threads_max;
  if (usual > pool_threads_most || (!fixed && !in_range)) {
    return fault("its entry says a pool of " + std::to_string(usual) + " threads, from " +
                 std::to_string(plugin->pool_threads_min) + " to " +
                 std::to_string(plugin->pool_threads_max) + ": there are at most " +
                 std::to_string(pool_threads_most));
  }
  return {};
}

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
          name};
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
  davit_error error{};
  loaded->module.plugin = entry(DAVIT_ABI_MINOR, &error);
  if (loaded->module.plugin == nullptr && error.message[0] != '\0') return fault(error.message);
  if (auto whole = check_entry(loaded->module.plugin, loaded->module.note); !whole.ok())
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
