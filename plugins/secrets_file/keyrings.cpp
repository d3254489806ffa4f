#include "keyrings.hpp"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>

#include "files.hpp"
#include "settings.hpp"

namespace davit::secrets_file {
namespace {

constexpr std::string_view key_suffix = ".key";
constexpr size_t file_name_bytes_max = 255;

// A keyring whose name cannot be that of a file has none.
bool can_be_a_file(const std::string& keyring) {
  return !keyring.empty() && keyring.front() != '.' &&
         keyring.find_first_of(std::string_view("/\0", 2)) == keyring.npos &&
         keyring.size() + key_suffix.size() <= file_name_bytes_max;
}

// Whatever is wrong with a file of keys can be mended without a change of the item. So it is to be
// tried again, unless this process may not read the file.
Result<Keys> or_unavailable(Result<Keys> keys) {
  if (keys.ok() || keys.error().code == Code::permission_denied) return keys;
  Error error = keys.error();
  error.code = Code::unavailable;
  return error;
}

Result<Keys> keys_of_file(int folder, const std::string& name) {
  const auto content = read_private_file(folder, name, key_file_bytes_max);
  if (!content.ok()) return content.error();
  return or_unavailable(parse_keys(content->view()));
}

}  // namespace

Keyrings::Keyrings(Host host, std::string key_file, std::string keyrings_dir)
    : host_(host),
      key_file_(std::move(key_file)),
      keyrings_dir_(std::move(keyrings_dir)),
      news_(host) {}

SharedKeys Keyrings::read(const std::string& keyring) {
  if (!keyrings_dir_.empty() && can_be_a_file(keyring)) {
    auto own = read_own(keyring);
    if (own.ok() || own.error().code != Code::not_found)
      return told(own_file(keyring), std::move(own));
    news_.absent(own_file(keyring));
  }
  if (!key_file_.empty()) return told(key_file_, read_key_file());
  return Error{Code::not_found, keyring.empty()
                                    ? "the item names no keyring, and key_file is not set"
                                    : "there is no such keyring in " + keyrings_dir_};
}

Result<> Keyrings::read_all(bool tell) {
  const auto judge = [&](const std::string& file, Result<Keys> keys) -> Result<> {
    if (!keys.ok()) return keys.error().in(file);
    if (tell) news_.good(file, *keys);
    return {};
  };
  if (!key_file_.empty()) {
    if (auto r = judge(key_file_, read_key_file()); !r.ok()) return r.error().in("key_file");
  }
  if (keyrings_dir_.empty()) return {};
  const auto all = names();
  if (!all.ok()) return all.error().in("keyrings_dir");
  for (const std::string& keyring : *all) {
    if (auto r = judge(own_file(keyring), read_own(keyring)); !r.ok())
      return r.error().in("keyrings_dir");
  }
  if (all->empty() && key_file_.empty())
    return Error{Code::failed_precondition, "keyrings_dir: " + keyrings_dir_ +
                                                " has no file KEYRING.key: make one with "
                                                "davit-seal keygen -o " +
                                                keyrings_dir_ + "/KEYRING.key"};
  return {};
}

Result<Keys> Keyrings::read_key_file() const {
  if (!key_file_.starts_with(credential_word))
    return or_unavailable(keys_of_file(AT_FDCWD, key_file_));
  // Whoever gives a process its credentials takes care of their modes.
  const auto content = host_.credential(key_file_);
  return or_unavailable(content.ok() ? parse_keys(content->view()) : content.error());
}

Result<Keys> Keyrings::read_own(const std::string& keyring) const {
  const auto folder = open_folder(keyrings_dir_);
  if (!folder.ok()) return folder.error();
  return keys_of_file(folder->get(), keyring + std::string(key_suffix));
}

std::string Keyrings::own_file(const std::string& keyring) const {
  return keyrings_dir_ + "/" + keyring + std::string(key_suffix);
}

Result<std::vector<std::string>> Keyrings::names() const {
  std::vector<std::string> out;
  std::error_code error;
  for (std::filesystem::directory_iterator at(keyrings_dir_, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.size() > key_suffix.size() && name.front() != '.' && name.ends_with(key_suffix))
      out.push_back(name.substr(0, name.size() - key_suffix.size()));
  }
  if (error) return file_fault(error.value()).in(keyrings_dir_);
  std::sort(out.begin(), out.end());
  return out;
}

SharedKeys Keyrings::told(const std::string& file, Result<Keys> keys) {
  if (!keys.ok()) {
    news_.bad(file, keys.error().message);
    return keys.error().in(file);
  }
  news_.good(file, *keys);
  return std::make_shared<const Keys>(std::move(*keys));
}

}  // namespace davit::secrets_file
