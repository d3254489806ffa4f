// Admission decides which calls one server accepts. Each transport asks it before a call reaches
// its method, so refusals have the same messages and codes on every transport. All functions may be
// called from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <davit/types.hpp>

#include "account.hpp"
#include "call_metrics.hpp"
#include "end.hpp"
#include "identity.hpp"
#include "method_registry.hpp"
#include "quota.hpp"
#include "repeated.hpp"
#include "settings.hpp"
#include "token_store.hpp"

namespace davit::host {

struct Core;
class Log;

class Admission {
 public:
  Admission(const Core&, const ServerSettings&, const MethodRegistry&);

  // Reads all token files. The error is about the first file that cannot be used.
  Result<> load() { return tokens_.load(); }
  // Reads the token files that have changed. May block.
  void refresh() { tokens_.refresh(); }
  // Reads another list of tokens and returns the function that puts it into effect
  // (TokenStore::prepare). May block.
  Result<std::function<void()>> prepare_tokens(std::vector<TokenSettings> tokens) {
    return tokens_.prepare(std::move(tokens));
  }
  std::vector<std::string> doubts() const { return tokens_.doubts(); }
  bool knows_region(std::string_view region) const { return tokens_.knows_region(region); }

  // `path` has no leading slash. NULL if no such method is served.
  const Method* find(std::string_view path) const { return methods_.find(path); }
  // Whether the method needs no credentials.
  static bool is_open(const Method*);
  // Whether the method is answered even while the server shuts down.
  static bool answers_to_the_end(const Method*);
  // `header` is the value of the Authorization header, or NULL if the call has none. It is not
  // looked at where callers need no token (role_without_token).
  Result<IdentityPtr> authenticate(const std::string_view* header);

  // A new call as the transport describes it, before any check.
  struct Caller {
    std::string_view path;
    const std::string& peer;
    bool has_place = true;    // the connection is below its limit of calls
    bool legal = true;        // its headers consist of allowed characters
    Result<IdentityPtr> who;  // ignored if the method is open
  };
  struct Entry {
    IdentityPtr who;
    std::unique_ptr<Account> account;
  };
  // Decides whether the caller may call the method. `method` is NULL if nothing is served at the
  // path. A refusal is counted in the metrics and logged.
  Result<Entry> enter(const Method*, Caller);

  // How the server ends calls while it shuts down. A trailer says when to come back.
  End going_down() const;
  // How the server ends a call whose token was removed or replaced.
  static End revoked();
  // The number of open calls at which a connection that begins another is closed. HTTP/2 enforces
  // streams_max only on callers that acknowledged the setting and do not reset the streams they
  // begin. This limit stops the others. It leaves room for calls whose end the caller has seen
  // before the server.
  size_t calls_max() const;

  CallMetrics& metrics() { return metrics_; }
  // The key under which a call counts against a limit: one credential at one address. Agents behind
  // one NAT have separate shares if they have separate tokens.
  static std::string whose(const Identity&, const std::string& address);
  void leaves(Quota&, const std::string& whose);
  // Logs a refused call. Refusals of one address, code and `kind` share one log line a minute, so
  // `kind` must not be text that a caller chooses.
  void log_refusal(const Error&, std::string_view path, const std::string& peer,
                   std::string_view kind);
  // Logs a connection that was refused before any call.
  void log_bad_connection(const std::string& what, const std::string& peer);

 private:
  Result<Entry> judge(const Method*, Caller&);
  Result<> may_call(const Identity&, const Method*, std::string_view path) const;
  // The quota that the method's calls count in. NULL if they count in none.
  Quota* quota_of(const Method&);
  Result<> count(const Method&, const std::string& whose);

  Log& log_;
  const ServerSettings& settings_;
  const MethodRegistry& methods_;
  TokenStore tokens_;
  const IdentityPtr anybody_;
  const IdentityPtr without_token_;  // NULL: callers show a token
  Repeated refusals_;
  CallMetrics metrics_;
  std::mutex quotas_mutex_;
  Quota strangers_;  // streams of methods that need no token
  Quota calls_;      // calls of all other methods
};

}  // namespace davit::host
