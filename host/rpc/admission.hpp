// Who may call what on one server: the same words and codes whatever the transport. Any thread.
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

  // Reads the tokens' files; the first that cannot be used is the error.
  Result<> load() { return tokens_.load(); }
  // Reads those that have changed. It may block.
  void refresh() { tokens_.refresh(); }
  // What takes other tokens when it is called (TokenStore::prepare). It may block.
  Result<std::function<void()>> prepare_tokens(std::vector<TokenSettings> tokens) {
    return tokens_.prepare(std::move(tokens));
  }
  std::vector<std::string> doubts() const { return tokens_.doubts(); }

  // `path` without a slash in front. NULL: nothing of that name is served.
  const Method* find(std::string_view path) const { return methods_.find(path); }
  // Everybody may call it, without credentials.
  static bool is_open(const Method*);
  // It is answered even while the server goes down.
  static bool answers_to_the_end(const Method*);
  // The value of the Authorization header; NULL: the call has none.
  Result<IdentityPtr> authenticate(const std::string_view* header);

  // A call as the transport sees it, before anything of it was looked at.
  struct Caller {
    std::string_view path;
    const std::string& peer;
    bool has_place = true;    // its connection has no more calls than it may have
    bool legal = true;        // its headers have characters that headers may have
    Result<IdentityPtr> who;  // of a method that is not open
  };
  struct Entry {
    IdentityPtr who;
    std::unique_ptr<Account> account;
  };
  // Whether that one may call the method, which may be NULL. A refusal is counted and logged.
  Result<Entry> enter(const Method*, Caller);

  // The end of what comes while the server goes down, with the hint when to come back.
  End going_down() const;
  // Of a call whose token was taken away or replaced.
  static End revoked();
  // HTTP/2 holds a caller to streams_max that has acknowledged the setting and does not reset what
  // it begins; the others are held to this, and lose their connection. Calls whose end the caller
  // has seen before us count here, hence the room.
  size_t calls_max() const;

  CallMetrics& metrics() { return metrics_; }
  // Whose share of a limit a call counts in: those of one credential at one address. Agents behind
  // one NAT have shares of their own if they have tokens of their own.
  static std::string whose(const Identity&, const std::string& address);
  void leaves(Quota&, const std::string& whose);
  // `kind` tells refusals of one address apart: nothing that a caller is free to choose.
  void log_refusal(const Error&, std::string_view path, const std::string& peer,
                   std::string_view kind);
  // The same, of a connection that got no further.
  void log_bad_connection(const std::string& what, const std::string& peer);

 private:
  Result<Entry> judge(const Method*, Caller&);
  Result<> may_call(const Identity&, const Method*, std::string_view path) const;
  // Among which its calls count; NULL: none.
  Quota* quota_of(const Method&);
  Result<> count(const Method&, const std::string& whose);

  Log& log_;
  const ServerSettings& settings_;
  const MethodRegistry& methods_;
  TokenStore tokens_;
  const IdentityPtr anybody_;
  Repeated refusals_;
  CallMetrics metrics_;
  std::mutex quotas_mutex_;
  Quota strangers_;  // streams of methods that ask for no token
  Quota calls_;      // of those that do
};

}  // namespace davit::host
