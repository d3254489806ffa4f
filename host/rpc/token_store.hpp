// Which token is whose. Holds digests, never tokens; reads a file again when it has changed, so
// that a token is rotated by replacing its file. Any thread; files are read by `load`,
// `refresh` and `prepare` only, so that no call waits for a disk.
#pragma once

#include <array>
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
  using Warn = std::function<void(const std::string& message)>;

  // `warn` is told once when a file can no longer be used, and once when it can again.
  TokenStore(std::vector<TokenSettings>, Warn warn);

  // Reads every file; the first that cannot be used is the error. At start.
  Result<> load();
  // Reads what has changed. Identities of tokens that were replaced or taken away are revoked. Once
  // a second; it may block.
  void refresh();
  // Reads what is needed to have other tokens instead, and gives what makes the change: a call of
  // it, which cannot fail; unless it is called nothing changes. One that is the same in all that is
  // said of it stays as it is. Identities of tokens that are gone are revoked. It may block, and
  // `refresh` waits until what it gave is destroyed, on the same thread.
  Result<std::function<void()>> prepare(std::vector<TokenSettings>);
  // What is doubtful about the files that were read: who may read them, and how short they are.
  std::vector<std::string> doubts() const;

  // The value of the Authorization header; NULL when the call has none. UNAUTHENTICATED with the
  // words of the seeds' control plane.
  Result<IdentityPtr> authenticate(const std::string_view* header);

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Token {
    TokenSettings settings;
    // Of who reads the files.
    std::string subject;
    FileLook look;
    bool settled = false;  // no other content can hide behind the same look
    bool warned = false;
    std::string doubt;
    // Under mutex_; written only by who reads the files.
    bool usable = false;  // there is a digest
    Digest digest{};
    IdentityPtr identity;
  };
  // Tokens that are ready to be taken, and until then the right to read files.
  struct Prepared {
    std::unique_lock<std::mutex> reading;
    std::vector<Token> tokens;
  };
  static Token made_of(TokenSettings);
  static Result<> all_differ(const std::vector<Token>&);
  Result<> read(Token&);
  void take(Token&, const Digest&);
  void take_away(Token&);
  void commit(Prepared&);

  const Warn warn_;
  mutable std::mutex files_;  // for as long as files are read
  std::mutex mutex_;
  std::vector<Token> tokens_;
};

}  // namespace davit::host
