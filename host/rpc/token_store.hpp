// TokenStore tells which caller a token belongs to. Admission asks it for each call. It holds
// digests, never tokens. It reads a file again when it has changed, so a token is replaced by
// replacing its file. Any thread. Only `load`, `refresh` and `prepare` read files, so no call waits
// for a disk.
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

#include "agent_tokens_folder.hpp"
#include "file_look.hpp"
#include "identity.hpp"
#include "settings.hpp"

namespace davit::host {

class TokenStore {
 public:
  using Warn = std::function<void(const std::string& message)>;

  // `agents` is the path of an AgentTokensFolder; empty: none. `warn` is called when a file can
  // no longer be used, whenever the reason changes, and when it can be used again.
  TokenStore(std::vector<TokenSettings>, std::string agents, Warn warn);

  // Reads all files at start. The error is about the first file of the list that cannot be used, or
  // about the folder. A file in the folder that cannot be used is warned of.
  Result<> load();
  // Reads the files that have changed, and revokes the identities of tokens that were replaced or
  // removed. Call it once a second. May block.
  void refresh();
  // Whether a token of the folder, or of the list, is for an agent of this region.
  bool knows_region(std::string_view region) const;
  // Prepares another list of tokens; those of the folder stay. Reads the files of new tokens and
  // returns a function that makes the change and cannot fail. Nothing changes unless it is called.
  // Tokens with unchanged settings stay as they are. The identities of removed tokens are revoked.
  // May block. `refresh` waits until the returned function is destroyed; destroy it on the same
  // thread.
  Result<std::function<void()>> prepare(std::vector<TokenSettings>);
  // What is doubtful about the files: who may read them, and how short their tokens are.
  std::vector<std::string> doubts() const;

  // Identifies a caller. `header` is the value of the Authorization header, or NULL if the call has
  // none. UNAUTHENTICATED, with the messages of Unkey's control plane.
  Result<IdentityPtr> authenticate(const std::string_view* header);

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Token {
    TokenSettings settings;
    // Used only with files_ held.
    std::string subject;
    FileLook look;
    bool settled = false;  // no other contents can have the same look
    std::string fault;     // of the last refresh, as it was warned of; empty: there was none
    std::string doubt;
    // Guarded by mutex_. Written only with files_ held as well.
    bool usable = false;  // the digest is valid
    Digest digest{};
    IdentityPtr identity;
  };
  // Tokens that are ready to be taken over. Keeps files_ locked until then.
  struct Prepared {
    std::unique_lock<std::mutex> reading;
    std::vector<Token> tokens;
  };
  static Token made_of(TokenSettings);
  static Result<> all_differ(const std::vector<Token>&);
  Result<> look_into_folder();
  void replace_found(const std::vector<TokenSettings>& found);
  bool is_copy(const Token&, const Digest&) const;
  void refresh(Token&);
  Result<> read(Token&);
  void take(Token&, const Digest&);
  void take_away(Token&);
  void commit(Prepared&);

  const Warn warn_;
  mutable std::mutex files_;  // held while files are read
  // Used only with files_ held.
  AgentTokensFolder agents_;
  std::string folder_fault_;         // of the last look into it, that was warned of
  std::vector<std::string> faults_;  // of names in the folder, that were warned of

  mutable std::mutex mutex_;
  std::vector<Token> tokens_;
};

}  // namespace davit::host
