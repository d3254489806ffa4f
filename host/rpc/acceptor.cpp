#include "acceptor.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include "core.hpp"
#include "peer_address.hpp"
#include "services/log.hpp"
#include "services/passed_sockets.hpp"

namespace davit::host {

Acceptor::Acceptor(const Core& core, ServerSettings settings, const MethodRegistry& methods)
    : log_(core.log),
      passed_(core.passed),
      settings_(std::move(settings)),
      admission_(core, settings_, methods),
      certificate_(core, settings_),
      connection_limits_(core, settings_) {}

Acceptor::~Acceptor() = default;

Result<> Acceptor::prepare() {
  if (settings_.on_unix_socket()) {
    auto users = PeerUsers::make(settings_.allow_users, settings_.allow_group);
    if (!users.ok()) return users.error();
    users_ = std::move(*users);
    return {};
  }
  if (auto r = admission_.load(); !r.ok()) return r;
  return settings_.tls() ? certificate_.load() : Result<>();
}

Result<> Acceptor::check() {
  auto r = prepare();
  return r.ok() ? r : r.error().in(name());
}

Result<bool> Acceptor::take_over() {
  if (passed_ == nullptr) return false;
  const auto passed = passed_->take(name(), settings_.listen);
  if (!passed.ok()) return passed.error();
  if (passed->empty()) return false;
  listener_.take_over(*passed);
  is_held_ = true;
  for (const int fd : *passed) {
    const std::string at = address_of_listening(fd);
    address_ += (address_.empty() ? "" : ", ") + at;
    if (!settings_.on_unix_socket()) continue;
    const auto given = Listener::give_access(at.substr(std::string_view("unix:").size()),
                                             users_.socket_mode(), users_.group());
    if (given.ok()) continue;
    return Error{given.error().code, at + ": " + given.error().message +
                                         " (set SocketUser= of its unit to the user of davit)"};
  }
  return true;
}

void Acceptor::drain() {
  if (is_held_) listener_.stop();
}

Result<> Acceptor::bind() {
  if (const auto r = take_over(); !r.ok()) {
    return r.error().in(name());
  } else if (*r) {
    return {};
  }
  const bool local = settings_.on_unix_socket();
  Result<std::string> bound = settings_.listen;
  if (!local) {
    bound = listener_.bind_tcp(settings_.listen);
  } else if (auto r =
                 listener_.bind_unix(settings_.unix_path(), users_.socket_mode(), users_.group());
             !r.ok()) {
    bound = r.error();
  }
  if (bound.ok()) {
    address_ = *bound;
    return {};
  }
  return Error{Code::unavailable, name() + ": cannot listen on " + settings_.listen + ": " +
                                      bound.error().message + " (set another " +
                                      (local ? "path" : "port") + " in " + settings_.listen_where +
                                      ")"};
}

Result<> Acceptor::start(Entered entered, std::function<void()> sweep) {
  entered_ = std::move(entered);
  sweep_ = std::move(sweep);
  if (settings_.on_unix_socket()) users_thread_ = std::make_unique<boost::asio::thread_pool>(1);
  auto r = listener_.start([this](Descriptor fd) { accepted(std::move(fd)); },
                           [this](int error) { connection_limits_.starve(error); });
  if (!r.ok()) return r.error().in(name());
  log_.info("rpc", "listening", {{"server", settings_.name}, {"address", address_}});
  return {};
}

void Acceptor::stop() {
  listener_.stop();
  if (users_thread_) users_thread_->join();
  users_thread_.reset();
}

// Closes a connection beyond a limit without an answer. Reading its request would cost what the
// limit saves.
bool Acceptor::has_entered(const std::string& address) {
  if (sweep_ && !connection_limits_.has_room(address)) sweep_();
  return connection_limits_.enter(address);
}

void Acceptor::accepted(Descriptor fd) {
  AcceptedConnection incoming;
  incoming.fd = std::move(fd);
  if (settings_.on_unix_socket()) return accepted_local(std::move(incoming));
  incoming.connection = incoming.peer = peer_name(incoming.fd.get());
  if (incoming.peer.empty()) return;  // the caller has already gone
  incoming.address = address_of(incoming.peer);
  if (has_entered(incoming.address)) entered_(std::move(incoming));
}

void Acceptor::accepted_local(AcceptedConnection incoming) {
  const auto who = peer_credentials(incoming.fd.get());
  if (!who) return;
  incoming.address = "unix:uid " + std::to_string(who->first);
  if (!has_entered(incoming.address)) return;
  boost::asio::post(*users_thread_, [this, who = *who, incoming = std::move(incoming)]() mutable {
    incoming.user = users_.identify(who.first, who.second);
    incoming.peer = "unix:" + incoming.user->name();
    incoming.connection = incoming.peer + "#" + std::to_string(++connections_);
    entered_(std::move(incoming));
  });
}

}  // namespace davit::host
