#include "session.hpp"

namespace davit::secrets_transit {
namespace {

using Auth = TransitSettings::Auth;
using Lock = std::lock_guard<std::mutex>;
using std::chrono::nanoseconds;

// `"name":"text"`, where the text is printable ASCII.
void append_member(Wiped& out, std::string_view name, std::string_view text) {
  out.append(out.empty() ? "{\"" : ",\"");
  out.append(name);
  out.append("\":\"");
  for (const char& c : text) {
    if (c == '"' || c == '\\') out.append("\\");
    out.append({&c, 1});
  }
  out.append("\"");
}

}  // namespace

Session::Session(Host host, const TransitSettings& settings, std::shared_ptr<Api> api,
                 std::chrono::milliseconds request_timeout)
    : host_(host),
      settings_(settings),
      api_(std::move(api)),
      request_timeout_(request_timeout),
      file_(host, settings.token_file),
      secret_id_(host, settings.secret_id_file, "secret_id_file"),
      service_account_(host, settings.service_account_file, "service_account_file"),
      strand_(host.strand()),
      timer_(strand_),
      login_patience_(strand_) {}

Result<> Session::check() const {
  const auto& file = by_file()                         ? file_
                     : settings_.auth == Auth::approle ? secret_id_
                                                       : service_account_;
  if (auto content = file.read(); !content.ok()) return content.error();
  return api_->check();
}

Result<Secret> Session::token(const Op& op) {
  if (!by_file()) return log_in(nullptr, op);
  auto token = file_.current();
  if (token.ok()) return token;
  Error error = token.error().in("token_file");
  error.code = Code::unauthenticated;
  return error;
}

Result<std::optional<Secret>> Session::after_refusal(const Secret& refused, const Op& op) {
  using Found = std::optional<Secret>;
  if (by_file()) {
    auto now = file_.current();
    if (now.ok() && now->view() != refused.view()) return Found(std::move(*now));
    if (is_good(refused, op)) return Found();
    return Error{Code::unauthenticated, "the vault does not accept the token"};
  }
  {
    const Lock lock(mutex_);
    if (token_ && token_->view() != refused.view()) return Found(Secret(token_->view()));
    if (host_.now() - logged_in_ < login_age) return Found();
  }
  if (is_good(refused, op)) return Found();
  auto fresh = log_in(&refused, op);
  if (!fresh.ok()) return fresh.error();
  return Found(std::move(*fresh));
}

// Only a clear refusal is one: the Vault may be away by now.
bool Session::is_good(const Secret& token, const Op& op) {
  auto answer =
      api_->send({.method = "GET", .path = "auth/token/lookup-self", .token = &token}, op);
  return !answer.ok() || answer->status != 403;
}

// --- logins -------------------------------------------------------------------------------------

// `refused`: a token that is of no use, though its time is not over.
Result<Secret> Session::log_in(const Secret* refused, const Op& op) {
  const auto usable = [&]() -> std::optional<Secret> {
    const Lock lock(mutex_);
    if (!token_ || lease_.over(host_.now())) return std::nullopt;
    if (refused != nullptr && token_->view() == refused->view()) return std::nullopt;
    return Secret(token_->view());
  };
  if (auto token = usable()) return std::move(*token);
  const OneAtATime::Hold login(login_, 2 * request_timeout_);
  if (!login) return Error{Code::unavailable, "another login takes too long"};
  if (auto token = usable()) return std::move(*token);
  {
    const Lock lock(mutex_);
    if (failure_ && host_.now() - failed_ < login_pause) return *failure_;
  }
  auto granted = ask_for_login(op);
  if (!granted.ok()) {
    const Lock lock(mutex_);
    failed_ = host_.now();
    if (granted.error().code != Code::cancelled && granted.error().code != Code::deadline_exceeded)
      failure_ = granted.error();
    return granted.error();
  }
  Secret token(granted->token.view());
  keep(std::move(*granted));
  return token;
}

// A login that was sent may have made a token, and used a secret id that has few uses. So who gives
// up does not end it at once: the token is kept, and can be revoked.
Result<Granted> Session::ask_for_login(const Op& op) {
  if (auto over = given_up(op, host_.now())) return std::move(*over);
  const int64_t patience = nanoseconds(login_patience).count();
  const Operation login(op.deadline_ns() < INT64_MAX - patience ? op.deadline_ns() + patience
                                                                : INT64_MAX);
  const OnCancel hurry(op, [weak = weak_from_this(), strand = strand_, login] {
    strand.post([weak, login] {
      if (const auto self = weak.lock())
        self->login_patience_.after(login_patience, [login] { login.cancel(); });
    });
  });
  const bool approle = settings_.auth == Auth::approle;
  auto secret = approle ? secret_id_.current() : service_account_.current();
  if (!secret.ok()) {
    Error error = secret.error().in(secret.error().where);
    error.code = Code::unauthenticated;
    return error;
  }
  Wiped body;
  append_member(body, approle ? "role_id" : "role", settings_.role);
  append_member(body, approle ? "secret_id" : "jwt", secret->view());
  body.append("}");
  const std::string path = "auth/" + url_path(settings_.auth_mount) + "/login";
  // Sent twice it would use a secret id twice that may be used once.
  auto answer = api_->send({.path = path, .body = body.view(), .repeatable = false}, login.op());
  if (!answer.ok()) return answer.error();
  return granted_by(*answer);
}

void Session::keep(Granted granted) {
  std::optional<Lease::Time> due;
  const auto now = host_.now();
  {
    const Lock lock(mutex_);
    token_ = std::move(granted.token);
    lease_ = Lease(granted.lasts, granted.renewable, now);
    logged_in_ = now;
    failure_.reset();
    backoff_.reset();
    due = lease_.due();
  }
  host_.info("logged in to the vault", {{"seconds", std::to_string(granted.lasts.count())}});
  if (due) arm(*due - now);
}

// --- what nobody waits for ----------------------------------------------------------------------

void Session::arm(nanoseconds in) {
  strand_.post([weak = weak_from_this(), in] {
    if (const auto self = weak.lock()) self->timer_.after(in, [weak] { begin_refresh(weak); });
  });
}

void Session::begin_refresh(const std::weak_ptr<Session>& weak) {
  const auto self = weak.lock();
  if (!self) return;
  Outstanding::Ticket ticket;
  {
    const Lock lock(self->mutex_);
    if (self->over_) return;
    ticket = self->open_.begin();
  }
  self->host_.blocking({}, [self, ticket = std::move(ticket)] {
    self->refresh(self->operations_.begin((self->host_.now() + self->request_timeout_).count()));
  });
}

void Session::refresh(const Operation& operation) {
  std::optional<Secret> token;
  Lease::Next next{};
  {
    const Lock lock(mutex_);
    if (over_ || !token_) return;
    token = Secret(token_->view());
    next = lease_.over(host_.now()) ? Lease::Next::login : lease_.next();
  }
  if (next == Lease::Next::renewal && renew(*token, operation.op())) return;
  auto fresh = log_in(&*token, operation.op());
  if (fresh.ok()) return;  // keep() has armed the timer
  std::chrono::milliseconds wait{};
  bool first = false;
  {
    const Lock lock(mutex_);
    if (over_) return;
    first = backoff_.failures() == 0;
    wait = backoff_.next(host_.random());
  }
  if (first) {
    host_.warn("the vault's token is not renewed; another attempt follows",
               {{"reason", fresh.error().message}});
  }
  arm(wait);
}

// True: it is done, or is tried again. False: only a login helps.
bool Session::renew(const Secret& token, const Op& op) {
  auto answer = api_->send({.path = "auth/token/renew-self", .token = &token, .body = "{}"}, op);
  auto granted = answer.ok() ? granted_by(*answer) : Result<Granted>(answer.error());
  std::chrono::nanoseconds in{};
  {
    const Lock lock(mutex_);
    if (over_ || !token_ || token_->view() != token.view()) return true;  // there is a newer one
    const auto now = host_.now();
    if (granted.ok()) {
      lease_.renewed(granted->lasts, granted->renewable, now);
      backoff_.reset();
      in = lease_.due() ? *lease_.due() - now : nanoseconds(0);
    } else if (granted.error().code == Code::unavailable) {
      in = backoff_.next(host_.random(), granted.error().retry_after);
    } else {
      lease_.not_renewed();
      return false;
    }
  }
  arm(in);
  return true;
}

Result<> Session::end(const Op& op) {
  {
    const Lock lock(mutex_);
    over_ = true;
  }
  operations_.cancel();
  if (auto r = open_.wait(host_, op); !r.ok()) return r;
  std::optional<Secret> token;  // that of a login which was still waited for, too
  {
    const Lock lock(mutex_);
    token.swap(token_);
  }
  if (!token || by_file()) return {};
  const auto until = std::min(host_.now() + request_timeout_, nanoseconds(op.deadline_ns()));
  const Operation own(until.count());
  auto answer = api_->send({.path = "auth/token/revoke-self", .token = &*token}, own.op());
  if (!answer.ok() || answer->status >= 400) {
    host_.warn("the vault's token is not revoked, and ends by itself",
               {{"reason", answer.ok() ? "status " + std::to_string(answer->status)
                                       : answer.error().message}});
  }
  return {};
}

}  // namespace davit::secrets_transit
