// Which token is whose. Holds digests, never tokens; reads a file again when it has changed, so
// that a token is rotated by replacing its file. Any thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

#include "file_look.hpp"
#include "identity.hpp"
#include "settings.hpp"

namespace davit::host {

class TokenStore {
 public:
  using Clock = std::function<std::chrono::steady_clock::time_point()>;
  using Warn = std::function<void(const std::string& message)>;

  // `warn` is told once when a file can no longer be used, and once when it can again.
  TokenStore(std::vector<TokenSettings>, Warn warn, Clock clock = &std::chrono::steady_clock::now);

  // Reads every file; the first that cannot be used is the error. At start.
  Result<> load();

  // The value of the Authorization header; nullopt-like empty pointer when the call has none.
  // UNAUTHENTICATED with the words of the seeds' control plane. Looks for changed files at most
  // once a second.
  Result<IdentityPtr> authenticate(const std::string_view* header);

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Token {
    TokenSettings settings;
    FileLook look;
    bool usable = false;   // there is a digest
    bool settled = false;  // no other content can hide behind the same look
    bool warned = false;
    Digest digest{};
    IdentityPtr identity;
  };
  Result<> read(Token&);
  void refresh();

  const Warn warn_;
  const Clock clock_;
  std::mutex mutex_;
  std::vector<Token> tokens_;
  std::chrono::steady_clock::time_point checked_;
};

}  // namespace davit::host
