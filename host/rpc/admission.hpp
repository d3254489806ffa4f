// Who may call what on one server: the same words and codes whatever the transport. Any thread.
#pragma once

#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "end.hpp"
#include "identity.hpp"
#include "method_registry.hpp"
#include "repeated.hpp"
#include "settings.hpp"
#include "token_store.hpp"

namespace davit::host {

struct Core;
class Log;

class Admission {
 public:
  Admission(const Core&, const ServerSettings&, const MethodRegistry&);

  // Reads the tokens' files; the first that cannot be used is the error.
  Result<> load() { return tokens_.load(); }

  // `path` without a slash in front. NULL: nothing of that name is served.
  const Method* find(std::string_view path) const { return methods_.find(path); }
  // Everybody may call it, without credentials.
  static bool is_open(const Method*);
  // It is answered even while the server goes down.
  static bool answers_to_the_end(const Method*);
  const IdentityPtr& anybody() const { return anybody_; }
  // The value of the Authorization header; NULL: the call has none.
  Result<IdentityPtr> authenticate(const std::string_view* header);
  // Whether that one may call the method, which may be NULL.
  Result<> admit(const Identity&, const Method*, std::string_view path) const;
  // INVALID_ARGUMENT: what a caller may not send would end up in log lines, names and answers.
  static Error bad_header();

  // The end of what comes while the server goes down, with the hint when to come back.
  End going_down() const;
  Error too_many_calls() const;
  // HTTP/2 holds a caller to streams_max that has acknowledged the setting and does not reset what
  // it begins; the others are held to this, and lose their connection. Calls whose end the caller
  // has seen before us count here, hence the room.
  size_t calls_max() const;

  void log_refusal(const Error&, std::string_view path, const std::string& peer);

 private:
  Log& log_;
  const ServerSettings& settings_;
  const MethodRegistry& methods_;
  TokenStore tokens_;
  const IdentityPtr anybody_;
  Repeated refusals_;
};

}  // namespace davit::host
