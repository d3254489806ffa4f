#include "document_files.hpp"

#include <algorithm>
#include <filesystem>

namespace davit::host {

namespace {

namespace fs = std::filesystem;

// What cannot be looked at (a link to nowhere) is taken for a file: reading it tells why.
bool is_document(const fs::directory_entry& entry) {
  const std::string extension = entry.path().extension();
  if (extension != ".yaml" && extension != ".yml" && extension != ".json") return false;
  std::error_code error;
  const fs::file_status status = entry.status(error);
  return error || !fs::exists(status) || fs::is_regular_file(status);
}

Error cannot_be_read(const fs::path& folder, const std::error_code& error) {
  return {Code::invalid_argument, folder.string() + ": cannot be read: " + error.message()};
}

Result<> add_files(const fs::path& folder, bool subfolders, std::vector<std::string>& to) {
  std::error_code error;
  std::vector<fs::path> below;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    std::error_code unknown;
    if (at->symlink_status(unknown).type() == fs::file_type::directory) {
      below.push_back(at->path());
    } else if (is_document(*at)) {
      to.push_back(at->path());
    }
  }
  if (error) return cannot_be_read(folder, error);
  if (!subfolders) return {};
  for (const fs::path& one : below) {
    if (auto r = add_files(one, subfolders, to); !r.ok()) return r;
  }
  return {};
}

}  // namespace

Result<std::vector<std::string>> document_files(const std::string& path, bool subfolders) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> out;
  if (auto r = add_files(path, subfolders, out); !r.ok()) return r.error();
  if (out.empty()) {
    return Error{Code::invalid_argument,
                 path + ": has no *.yaml, *.yml or *.json file" +
                     (subfolders ? ", nor have its subfolders" : "; -R looks in subfolders, too")};
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace davit::host
