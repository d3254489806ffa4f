// The token that a client sends: its file is looked at once a second at most and read again when it
// has changed.
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
  // The token; the last good one while the file cannot be used. UNAUTHENTICATED when there never
  // was one. [any]
  Result<std::string> get();
  // Of what was read last (doubt_about_token).
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

// What a header can carry: printable ASCII without spaces, and not nothing.
bool is_token(std::string_view);

// Why a token's file is doubtful: every user of the machine may read it, or it can be guessed.
// Empty: it is not.
std::string doubt_about_token(const std::string& path, size_t token_size);

}  // namespace davit::host
