#include "token_store.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <map>
#include <utility>

#include <davit/rpc.hpp>

#include "services/credentials.hpp"
#include "token_file.hpp"

namespace davit::host {

namespace {

Error unauthenticated(const char* message) {
  return {Code::unauthenticated, message};
}

}  // namespace

TokenStore::TokenStore(std::vector<TokenSettings> settings, std::string agents, Warn warn)
    : warn_(std::move(warn)), agents_(std::move(agents)) {
  for (auto& s : settings) tokens_.push_back(made_of(std::move(s)));
}

TokenStore::Token TokenStore::made_of(TokenSettings settings) {
  Token token;
  token.subject = "token \"" + settings.name + "\"";
  token.settings = std::move(settings);
  return token;
}

// Other contents are another credential, so calls that began with the previous one are ended.
void TokenStore::take(Token& token, const Digest& digest) {
  const std::lock_guard lock(mutex_);
  if (token.usable && token.digest == digest) return;
  if (token.identity) token.identity->revoke();
  token.digest = digest;
  token.usable = true;
  const TokenSettings& s = token.settings;
  token.identity = std::make_shared<const Identity>(token.subject, s.name, s.role, s.regions);
}

void TokenStore::take_away(Token& token) {
  const std::lock_guard lock(mutex_);
  token.usable = false;
  if (token.identity) token.identity->revoke();
}

// On every error but NOT_FOUND the token stays as it was. A file that is being written, or that
// cannot be read for a moment, must not lock out a fleet. A deleted file revokes its token.
Result<> TokenStore::read(Token& token) {
  const std::string& path = token.settings.file;
  const auto look = FileLook::of(path);
  if (!look) {
    take_away(token);
    token.look = {};
    return Error{Code::not_found, path + ": no such file"};
  }
  if (token.usable && *look == token.look && token.settled) return {};
  Digest digest{};
  size_t size = 0;
  auto r = read_credential(path, true, [&](std::string_view content) {
    const std::string_view value = token_of(content);
    size = value.size();
    SHA256(reinterpret_cast<const unsigned char*>(value.data()), value.size(), digest.data());
  });
  if (!r.ok()) return r;
  if (size == 0) return Error{Code::failed_precondition, path + ": " + no_token};
  if (token.settings.in_folder && is_copy(token, digest))
    return Error{Code::failed_precondition, path + ": another token of this server is the same"};
  token.look = *look;
  token.settled = look->settled();
  token.doubt = doubt_about_token(path, size);
  take(token, digest);
  return {};
}

Result<> TokenStore::load() {
  const std::lock_guard reading(files_);
  for (Token& token : tokens_) {
    if (auto r = read(token); !r.ok()) return r.error().in(token.subject);
  }
  if (auto r = all_differ(tokens_); !r.ok()) return r;
  if (auto r = look_into_folder(); !r.ok()) return r;
  for (Token& token : tokens_) {
    if (token.settings.in_folder) refresh(token);
  }
  return {};
}

Result<> TokenStore::look_into_folder() {
  const auto found = agents_.read_if_changed();
  if (!found.ok()) return found.error();
  if (!*found) return {};
  for (const std::string& fault : (*found)->faults)
    if (std::ranges::find(faults_, fault) == faults_.end()) warn_(fault);
  faults_ = (*found)->faults;
  replace_found((*found)->tokens);
  return {};
}

// Those that stay are not read anew, so no call of theirs ends.
void TokenStore::replace_found(const std::vector<TokenSettings>& found) {
  const auto is = [](const TokenSettings& settings) {
    return [&settings](const Token& t) { return t.settings == settings; };
  };
  const std::lock_guard lock(mutex_);
  std::erase_if(tokens_, [&](const Token& token) {
    const bool gone =
        token.settings.in_folder && std::ranges::find(found, token.settings) == found.end();
    if (gone && token.identity) token.identity->revoke();
    return gone;
  });
  for (const TokenSettings& settings : found) {
    if (std::ranges::none_of(tokens_, is(settings))) tokens_.push_back(made_of(settings));
  }
}

bool TokenStore::is_copy(const Token& token, const Digest& digest) const {
  return std::ranges::any_of(tokens_, [&](const Token& other) {
    return &other != &token && other.usable && other.digest == digest;
  });
}

bool TokenStore::knows_region(std::string_view region) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(tokens_, [&](const Token& token) {
    return token.settings.role == "agent" &&
           davit::rpc::names_region(token.settings.regions, region);
  });
}

Result<> TokenStore::all_differ(const std::vector<Token>& tokens) {
  std::map<Digest, const Token*> known;
  for (const Token& token : tokens) {
    if (!token.usable) continue;  // its digest is that of a file that is gone
    const auto [at, is_new] = known.emplace(token.digest, &token);
    if (is_new) continue;
    return Error{Code::failed_precondition,
                 token.subject + " and " + at->second->subject + " are the same"};
  }
  return {};
}

Result<std::function<void()>> TokenStore::prepare(std::vector<TokenSettings> settings) {
  const auto next = std::make_shared<Prepared>();
  next->reading = std::unique_lock(files_);
  for (auto& s : settings) {
    const auto same = std::find_if(tokens_.begin(), tokens_.end(),
                                   [&](const Token& t) { return t.settings == s; });
    if (same != tokens_.end()) {
      (void)read(*same);  // its token may be in another file by now; `refresh` warns of a failure
      next->tokens.push_back(*same);
      continue;
    }
    Token& token = next->tokens.emplace_back(made_of(std::move(s)));
    if (auto r = read(token); !r.ok()) return r.error().in(token.subject);
  }
  std::ranges::copy_if(tokens_, std::back_inserter(next->tokens),
                       [](const Token& t) { return t.settings.in_folder; });
  if (auto r = all_differ(next->tokens); !r.ok()) return r.error();
  return std::function<void()>([this, next] { commit(*next); });
}

void TokenStore::commit(Prepared& next) {
  const std::lock_guard lock(mutex_);
  for (const Token& token : tokens_) {
    const bool stays = std::any_of(next.tokens.begin(), next.tokens.end(),
                                   [&](const Token& t) { return t.identity == token.identity; });
    if (token.identity && !stays) token.identity->revoke();
  }
  tokens_ = std::move(next.tokens);
}

void TokenStore::refresh() {
  const std::lock_guard reading(files_);
  const auto folder = look_into_folder();
  const std::string fault = folder.ok() ? "" : folder.error().message;
  if (std::exchange(folder_fault_, fault) != fault)
    warn_(folder.ok() ? "agent_tokens_dir: can be read again"
                      : fault + "; the tokens that it had stay valid");
  for (Token& token : tokens_) {
    if (token.settings.in_folder && !folder.ok()) continue;  // perhaps it is not mounted
    const std::string before = token.doubt;
    refresh(token);
    if (!token.doubt.empty() && token.doubt != before) warn_(token.subject + ": " + token.doubt);
  }
}

void TokenStore::refresh(Token& token) {
  const auto r = read(token);
  const std::string fault =
      r.ok() ? ""
             : r.error().message +
                   (token.usable ? "; the token read before stays valid" : "; it is refused");
  if (std::exchange(token.fault, fault) == fault) return;
  warn_(token.subject + ": " + (r.ok() ? "can be read again" : fault));
}

std::vector<std::string> TokenStore::doubts() const {
  const std::lock_guard reading(files_);
  std::vector<std::string> out;
  for (const Token& token : tokens_) {
    if (!token.doubt.empty()) out.push_back(token.subject + ": " + token.doubt);
  }
  return out;
}

Result<IdentityPtr> TokenStore::authenticate(const std::string_view* header) {
  constexpr std::string_view bearer = "Bearer ";
  if (header == nullptr) return unauthenticated("missing Authorization header");
  if (!header->starts_with(bearer)) return unauthenticated("invalid Authorization header");
  const std::string_view value = header->substr(bearer.size());
  if (!is_token(value)) return unauthenticated("invalid Authorization header");
  Digest digest{};
  SHA256(reinterpret_cast<const unsigned char*>(value.data()), value.size(), digest.data());

  const std::lock_guard lock(mutex_);
  IdentityPtr found;
  // Compares with all, so that the time does not tell which one matched.
  for (const Token& token : tokens_) {
    const bool same = CRYPTO_memcmp(token.digest.data(), digest.data(), digest.size()) == 0;
    if (same && token.usable) found = token.identity;
  }
  if (!found) return unauthenticated("invalid bearer token");
  return found;
}

}  // namespace davit::host
