#include "admission.hpp"

#include <davit/utf8.hpp>

#include "core.hpp"
#include "peer_address.hpp"
#include "services/log.hpp"

namespace davit::host {

namespace {

// Longest text of a caller in a log line, in bytes.
constexpr size_t shown = 200;

Error denied(const std::string& message) {
  return {Code::permission_denied, message};
}

// The kind of a refusal. The message for an unknown method contains the caller's text, so it is not
// used as the kind.
std::string_view kind_of(const Error& e) {
  return e.code == Code::unimplemented ? "unknown method" : std::string_view(e.message);
}

// The one identity of all callers of a server that asks for no token. It has no name, so each
// address has limits of its own.
IdentityPtr any_caller_of(const ServerSettings& s) {
  if (s.role_without_token.empty()) return nullptr;
  return std::make_shared<const Identity>("a caller of server \"" + s.name + "\"", "",
                                          s.role_without_token, std::vector<std::string>());
}

}  // namespace

Admission::Admission(const Core& core, const ServerSettings& settings,
                     const MethodRegistry& methods)
    : log_(core.log),
      settings_(settings),
      methods_(methods),
      tokens_(settings_.tokens, settings_.agent_tokens_dir,
              [this](const std::string& message) {
                log_.warn("rpc", "token file", {{"server", settings_.name}, {"what", message}});
              }),
      anybody_(std::make_shared<const Identity>("anybody", "", "", std::vector<std::string>())),
      without_token_(any_caller_of(settings_)),
      metrics_(core.metrics, settings_.name, methods),
      strangers_(static_cast<size_t>(settings_.health_watches_max),
                 static_cast<size_t>(settings_.health_watches_per_address_max)),
      calls_(static_cast<size_t>(settings_.calls_max),
             static_cast<size_t>(settings_.calls_per_address_max)) {}

bool Admission::is_open(const Method* method) {
  return method != nullptr && method->gate == Gate::anybody;
}

bool Admission::answers_to_the_end(const Method* method) {
  return is_open(method) && !method->streams_answers();
}

Result<IdentityPtr> Admission::authenticate(const std::string_view* header) {
  if (without_token_) return without_token_;
  return tokens_.authenticate(header);
}

Result<> Admission::may_call(const Identity& who, const Method* method,
                             std::string_view path) const {
  if (who.role().empty()) {
    return denied(who.subject() + " may not use " + settings_.listen +
                  " (see allow_users and allow_group)");
  }
  if (method == nullptr || (method->gate == Gate::reflection && !settings_.reflection)) {
    return Error{Code::unimplemented, "method " + shortened(path, shown) + " is not served here"};
  }
  // A method without a role is for callers that have shown a credential, whichever.
  if (without_token_ && method->role.empty() && method->gate != Gate::reflection) {
    return denied(who.subject() + " has no token; " + std::string(method->service()) +
                  " needs one");
  }
  if (!method->role.empty() && method->role != who.role()) {
    return denied(who.subject() + " has role " + who.role() + "; " +
                  std::string(method->service()) + " needs " + method->role);
  }
  return {};
}

Result<Admission::Entry> Admission::enter(const Method* method, Caller caller) {
  auto entry = judge(method, caller);
  if (entry.ok()) return entry;
  metrics_.refused(method, entry.error().code);
  log_refusal(entry.error(), caller.path, caller.peer, kind_of(entry.error()));
  return entry;
}

Result<Admission::Entry> Admission::judge(const Method* method, Caller& caller) {
  if (!caller.has_place) {
    return Error{Code::resource_exhausted, "more than " + std::to_string(settings_.streams_max) +
                                               " calls at once on one connection"};
  }
  Entry out{anybody_, nullptr};
  if (!is_open(method)) {
    if (!caller.who.ok()) return caller.who.error();
    out.who = std::move(*caller.who);
    if (auto r = may_call(*out.who, method, caller.path); !r.ok()) return r.error();
  }
  // Without this check, illegal characters could reach log lines, names and answers.
  if (!caller.legal) {
    return Error{Code::invalid_argument, "a header contains characters that are not allowed"};
  }
  std::string share = whose(*out.who, address_of(caller.peer));
  if (auto r = count(*method, share); !r.ok()) return r.error();
  out.account = std::make_unique<Account>(*this, *method, caller.peer,
                                          Account::Counted{quota_of(*method), std::move(share)});
  return out;
}

Quota* Admission::quota_of(const Method& method) {
  if (!is_open(&method)) return &calls_;
  return method.streams_answers() ? &strangers_ : nullptr;
}

std::string Admission::whose(const Identity& who, const std::string& address) {
  return who.name().empty() ? address : who.name() + " at " + address;
}

Result<> Admission::count(const Method& method, const std::string& whose) {
  Quota* const quota = quota_of(method);
  if (quota == nullptr) return {};
  const std::lock_guard lock(quotas_mutex_);
  const auto verdict = quota->enter(whose);
  if (verdict == Quota::Verdict::in) return {};
  const bool full = verdict == Quota::Verdict::full, known = quota == &calls_;
  const int64_t most = known  ? (full ? settings_.calls_max : settings_.calls_per_address_max)
                       : full ? settings_.health_watches_max
                              : settings_.health_watches_per_address_max;
  return Error{Code::resource_exhausted, "more than " + std::to_string(most) +
                                             (known ? " calls" : " watches of health") +
                                             " at once" +
                                             (full    ? ""
                                              : known ? " of one credential at one address"
                                                      : " from one address") +
                                             (!known ? ""
                                              : full ? " (calls_max)"
                                                     : " (calls_per_address_max)")};
}

void Admission::leaves(Quota& quota, const std::string& whose) {
  const std::lock_guard lock(quotas_mutex_);
  quota.leave(whose);
}

End Admission::going_down() const {
  End end = End::of(shutting_down());
  end.trailers = {{"retry-after-ms", std::to_string(settings_.retry_after.count())}};
  return end;
}

End Admission::revoked() {
  return {Code::unauthenticated, "the token was taken away or replaced"};
}

size_t Admission::calls_max() const {
  constexpr size_t room = 100;
  return 2 * static_cast<size_t>(settings_.streams_max) + room;
}

void Admission::log_refusal(const Error& e, std::string_view path, const std::string& peer,
                            std::string_view kind) {
  const std::string key =
      address_of(peer) + " " + std::to_string(static_cast<int>(e.code)) + " " + std::string(kind);
  const auto left_out = refusals_.log(key, std::chrono::steady_clock::now());
  if (!left_out) return;
  log_.warn("rpc", "call refused",
            {{"server", settings_.name},
             {"peer", peer},
             {"method", shortened(path, shown)},
             {"reason", shortened(e.message, 2 * shown)},
             {"not_logged", std::to_string(*left_out)}});
}

void Admission::log_bad_connection(const std::string& what, const std::string& peer) {
  const auto left_out =
      refusals_.log(address_of(peer) + " " + what, std::chrono::steady_clock::now());
  if (!left_out) return;
  log_.warn("rpc", "connection refused",
            {{"server", settings_.name},
             {"peer", peer},
             {"reason", what},
             {"not_logged", std::to_string(*left_out)}});
}

}  // namespace davit::host
