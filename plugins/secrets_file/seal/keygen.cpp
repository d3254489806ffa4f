// davit-seal keygen: makes a key pair, and the file for it or one more line in a file.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "commands.hpp"
#include "keys.hpp"
#include "streams.hpp"

namespace davit::secrets_file {
namespace {

constexpr mode_t private_mode = 0600;

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

Result<> write_synced(const Descriptor& file, std::string_view bytes, const std::string& name) {
  auto written = write_all(file.get(), bytes);
  if (!written.ok()) return written.error().in(name);
  if (::fsync(file.get()) != 0)
    return Error{Code::internal, name + ": " + file_fault(errno).message};
  return {};
}

Result<> make_file(const std::string& name, std::string_view lines) {
  const Descriptor file(
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, private_mode));
  if (!file && errno == EEXIST)
    return Error{Code::already_exists,
                 name + ": is there already: name another file, or use --add for one more key"};
  if (!file) return file_fault(errno).in(name);
  auto written = write_synced(file, lines, name);
  if (!written.ok()) {
    ::unlink(name.c_str());
    return written;
  }
  // Its name is to survive a power failure, too.
  const std::string folder = std::filesystem::absolute(name).parent_path().string();
  if (const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)); opened)
    ::fsync(opened.get());
  return {};
}

// Adds lines to a file that stays the same file, with its owner and mode: it may be mounted.
Result<> add_to_file(const std::string& name, std::string_view lines) {
  const auto content = read_private_file(AT_FDCWD, name, key_file_bytes_max);
  if (!content.ok()) return content.error().in(name);
  const auto keys = parse_keys(content->view());
  if (!keys.ok()) return keys.error().in(name);
  const size_t room = key_file_bytes_max - std::min(content->size(), key_file_bytes_max);
  if (keys->size() == keys_max || lines.size() >= room)
    return Error{Code::failed_precondition,
                 name + ": is full: remove keys that nothing is sealed for any more"};
  const Descriptor file(::open(name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY));
  if (!file) return file_fault(errno).in(name);
  // In one piece, so that an agent that reads meanwhile sees all of it or nothing.
  const bool open_line = content->view().back() != '\n';
  LockedBytes all(lines.size() + (open_line ? 1 : 0));
  all.data()[0] = '\n';
  std::memcpy(all.data() + (open_line ? 1 : 0), lines.data(), lines.size());
  return write_synced(file, all.view(), name);
}

// Where others can read what is written, agents refuse it.
void doubt_output() {
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (const std::string fault = mode_fault(status, ::geteuid()); !fault.empty())
    note("keygen", "the file that this is written into: " + fault);
}

}  // namespace

Result<> keygen(const KeygenOptions& options) {
  const KeyPair pair = KeyPair::generate();
  const LockedBytes lines = key_file_lines(pair, date_now());
  const std::string public_line = pair.open().text() + "\n";
  if (options.file.empty()) {
    doubt_output();
    if (auto r = write_all(STDOUT_FILENO, lines.view()); !r.ok()) return r;
    return write_all(STDERR_FILENO, public_line);
  }
  auto made =
      options.add ? add_to_file(options.file, lines.view()) : make_file(options.file, lines.view());
  if (!made.ok()) return made;
  return write_all(STDOUT_FILENO, public_line);
}

}  // namespace davit::secrets_file
