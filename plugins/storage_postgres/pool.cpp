#include "pool.hpp"

#include "davit/backoff.hpp"
#include "davit/operation.hpp"

namespace davit::storage_postgres {
namespace {

using namespace std::chrono_literals;

constexpr Backoff::Limits between_attempts{50ms, 1'000ms};
constexpr int oldest_version = 130'000;  // the oldest that PostgreSQL's own community maintained

// libpq gives a text and no code. These are refusals of a moment; every other refusal by the server
// ("FATAL") is one by name or password, and trying again would only fill the server's log.
bool passes(const std::string& words) {
  if (words.find("FATAL:") == std::string::npos) return true;
  for (const char* passing : {"starting up", "shutting down", "recovery mode", "not yet accepting",
                              "too many", "connection slots", "consistent recovery state"}) {
    if (words.find(passing) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Result<> judge_server(const Session::Server& server) {
  if (server.version < oldest_version) {
    return Error{Code::failed_precondition,
                 "the server is PostgreSQL " + std::to_string(server.version / 10'000) +
                     ", and Davit needs 13 or newer: upgrade the server"};
  }
  if (server.encoding != "UTF8") {
    return Error{Code::failed_precondition,
                 "its encoding is " + server.encoding +
                     ", and Davit's texts need UTF8: create one with CREATE DATABASE ... ENCODING "
                     "'UTF8' TEMPLATE template0"};
  }
  if (server.replica) {
    return Error{Code::unavailable,
                 "the server is a replica, which may lack what the primary has answered: name the "
                 "primary, or several hosts with target_session_attrs=read-write"};
  }
  return {};
}

Result<Pool::Lent> Pool::lend(const Op& op) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Lent out(*this, std::move(idle_.back()), true);
      idle_.pop_back();
      return out;
    }
  }
  auto made = connect(op);
  if (!made.ok()) return made.error();
  return Lent(*this, std::move(*made), false);
}

void Pool::take_back(std::unique_ptr<Session> session) {
  session->roll_back();
  if (!session->usable()) return;
  const std::lock_guard lock(mutex_);
  if (!closed_) idle_.push_back(std::move(session));
}

void Pool::forget_idle() {
  std::vector<std::unique_ptr<Session>> closing;
  const std::lock_guard lock(mutex_);
  closing.swap(idle_);
}

void Pool::close() {
  std::vector<std::unique_ptr<Session>> closing;
  const std::lock_guard lock(mutex_);
  closed_ = true;
  closing.swap(idle_);
  changed_.notify_all();
}

Result<std::unique_ptr<Session>> Pool::try_once() {
  auto text = settings_.connection_text(host_);
  if (!text.ok()) return text.error();
  try {
    auto made = std::make_unique<Session>(settings_, *text);
    if (auto r = judge_server(made->server()); !r.ok()) return r.error();
    return made;
  } catch (const Fault& fault) {
    Error error = fault.error();
    if (!passes(error.message)) error.code = Code::failed_precondition;
    return error;
  }
}

Result<std::unique_ptr<Session>> Pool::connect(const Op& op) {
  const auto until = host_.now() + settings_.connect_timeout;
  Backoff backoff(between_attempts);
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return Error{Code::unavailable, "the storage is stopping"};
    }
    if (auto over = given_up(op, host_.now())) return std::move(*over);
    auto made = try_once();
    if (made.ok() || made.error().code != Code::unavailable) return made;
    if (auto over = pause(op, until, backoff.next(host_.random()))) {
      return over->code == Code::unavailable ? made.error() : std::move(*over);
    }
  }
}

// Why there is no further attempt: the caller has given up, or (UNAVAILABLE) the time is over.
std::optional<Error> Pool::pause(const Op& op, std::chrono::nanoseconds until,
                                 std::chrono::milliseconds delay) {
  const OnCancel wakes(op, [this] {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  });
  const auto end = host_.now() + delay;
  if (end > until) return Error{Code::unavailable, {}};
  std::unique_lock lock(mutex_);
  while (true) {
    const auto now = host_.now();
    if (auto over = given_up(op, now)) return over;
    if (now >= end || closed_) return std::nullopt;
    changed_.wait_for(lock, std::min(end, std::chrono::nanoseconds(op.deadline_ns())) - now);
  }
}

}  // namespace davit::storage_postgres
