#include "token_store.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <map>

#include "services/credentials.hpp"
#include "token_file.hpp"

namespace davit::host {

namespace {

std::string_view first_line(std::string_view s) {
  while (!s.empty() && (s.back() == '\n' || s.back() == '\r')) s.remove_suffix(1);
  return s;
}

Error unauthenticated(const char* message) {
  return {Code::unauthenticated, message};
}

}  // namespace

TokenStore::TokenStore(std::vector<TokenSettings> settings, Warn warn) : warn_(std::move(warn)) {
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
  bool good = false;
  size_t size = 0;
  auto r = read_credential(path, true, [&](std::string_view content) {
    const std::string_view value = first_line(content);
    good = is_token(value);
    size = value.size();
    SHA256(reinterpret_cast<const unsigned char*>(value.data()), value.size(), digest.data());
  });
  if (!r.ok()) return r;
  if (!good) {
    return Error{Code::failed_precondition,
                 path + ": not a token (one line of printable ASCII without spaces)"};
  }
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
  return all_differ(tokens_);
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
  for (Token& token : tokens_) {
    const auto r = read(token);
    if (!r.ok() && !token.warned) {
      warn_(token.subject + ": " + r.error().message +
            (token.usable ? "; the token read before stays valid" : "; it is refused"));
    }
    if (r.ok() && token.warned) warn_(token.subject + ": can be read again");
    token.warned = !r.ok();
  }
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
