#include "token_file.hpp"

#include <sys/stat.h>

#include "services/credentials.hpp"

namespace davit::host {

bool is_token(std::string_view token) {
  for (const char c : token) {
    if (c < 0x21 || c > 0x7e) return false;
  }
  return !token.empty();
}

std::string_view token_of(std::string_view content) {
  while (!content.empty() && (content.back() == '\n' || content.back() == '\r'))
    content.remove_suffix(1);
  return is_token(content) ? content : std::string_view();
}

std::string doubt_about_token(const std::string& path, size_t token_size) {
  constexpr size_t enough = 16;  // 64 bits in hexadecimal digits, more in other characters
  if (token_size < enough) {
    return path + ": a token of " + std::to_string(token_size) +
           " characters can be guessed (openssl rand -hex 24 makes a good one)";
  }
  struct stat st {};
  if (stat(path.c_str(), &st) != 0 || (st.st_mode & S_IROTH) == 0) return {};
  return path + ": every user of this machine may read it (chmod o-r)";
}

std::string TokenFile::doubt() {
  const std::lock_guard lock(mutex_);
  return doubt_;
}

Result<> TokenFile::read() {
  const auto look = FileLook::of(path_);
  if (look && !token_.empty() && *look == look_ && settled_) return {};
  std::string token;
  auto r =
      read_credential(path_, true, [&](std::string_view content) { token = token_of(content); });
  if (!r.ok()) return r;
  if (token.empty()) return Error{Code::failed_precondition, path_ + ": " + no_token};
  doubt_ = doubt_about_token(path_, token.size());
  token_ = std::move(token);
  look_ = look.value_or(FileLook{});
  settled_ = look && look->settled();
  return {};
}

Result<std::string> TokenFile::get() {
  constexpr std::chrono::seconds check_interval{1};
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!token_.empty() && now - checked_ < check_interval) return token_;
  checked_ = now;
  const auto r = read();
  if (token_.empty()) return Error{Code::unauthenticated, "token_file: " + r.error().message};
  return token_;
}

}  // namespace davit::host
