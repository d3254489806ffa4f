// TokenFile holds the token that a client sends. It looks at the file at most once a second and
// reads it again when it has changed. Caller asks it for each call.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include <davit/types.hpp>

#include "file_look.hpp"

namespace davit::host {

class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}
  // The token. While the file cannot be used, the last good token. UNAUTHENTICATED if there never
  // was one; then each call reads the file. [any]
  Result<std::string> get();
  // Why the file that was read last is doubtful (doubt_about_token).
  std::string doubt();

 private:
  Result<> read();

  const std::string path_;
  std::mutex mutex_;
  FileLook look_;
  bool settled_ = false;
  std::string token_, doubt_;
  std::chrono::steady_clock::time_point checked_;
};

// Whether the text can be a token: printable ASCII without spaces, and not empty.
bool is_token(std::string_view);
// The token that a file with this content has: one line. Empty: it has none. Borrowed of `content`.
std::string_view token_of(std::string_view content);
// What is said of a file that has none, behind its path.
inline constexpr const char* no_token = "not a token (one line of printable ASCII without spaces)";

// Why a token's file is doubtful: every user of the machine may read it, or the token is short
// enough to guess. Empty if it is not doubtful.
std::string doubt_about_token(const std::string& path, size_t token_size);

}  // namespace davit::host
