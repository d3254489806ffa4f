#include "unconfigured.hpp"

#include <algorithm>
#include <filesystem>

namespace davit::host {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  const std::string_view name(path.data(), path.find_last_not_of('/') + 1);
  return name.ends_with(".d") || fs::is_directory(path, error);
}

// Where the settings of this site go: "/etc/davit/agent.conf.d/*.toml", or the last file.
std::string site_settings(const std::vector<std::string>& files) {
  const auto folder = std::find_if(files.rbegin(), files.rend(), is_folder);
  if (folder == files.rend()) return files.back();
  return (fs::path(*folder) / "*.toml").lexically_normal().string();
}

}  // namespace

std::string absent_configuration(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code error;
    if (is_folder(file) || fs::status(file, error).type() != fs::file_type::not_found) continue;
    std::string line = file + ": there is no such file: write the configuration into it";
    const std::string site = site_settings(files);
    if (site != file && site.ends_with("*.toml")) line += ", or what is of this site into " + site;
    return line;
  }
  return {};
}

std::string absent_file(const std::string& what, const std::vector<std::string>& files) {
  return what + ": there is no such file: write it, or name another one in " + site_settings(files);
}

}  // namespace davit::host
