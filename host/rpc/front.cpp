#include "front.hpp"

#include "assembly/extension.hpp"
#include "peer_address.hpp"
#include "services/log.hpp"

namespace davit::host {

Front::Front(const Core& core, ServerSettings settings, const MethodRegistry& methods)
    : log_(core.log),
      settings_(std::move(settings)),
      admission_(core, settings_, methods),
      certificate_(core, settings_),
      door_(core, settings_) {}

Result<> Front::prepare() {
  if (settings_.on_unix_socket()) {
    auto users = PeerUsers::make(settings_.allow_users, settings_.allow_group);
    if (!users.ok()) return users.error();
    users_ = std::move(*users);
    return {};
  }
  if (auto r = admission_.load(); !r.ok()) return r;
  return settings_.tls() ? certificate_.load() : Result<>();
}

Result<> Front::check() {
  auto r = prepare();
  return r.ok() ? r : r.error().in(name());
}

Result<> Front::bind() {
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
  return Error{Code::unavailable,
               name() + ": cannot listen on " + settings_.listen + ": " + bound.error().message +
                   " (set another " + (local ? "path" : "port") + " in " + settings_.listen_where +
                   ")",
               {},
               {}};
}

Result<> Front::start(Entered entered, std::function<void()> sweep) {
  entered_ = std::move(entered);
  sweep_ = std::move(sweep);
  auto r = listener_.start([this](Descriptor fd) { accepted(std::move(fd)); },
                           [this](int error) { door_.starve(error); });
  if (!r.ok()) return r.error().in(name());
  log_.info("rpc", "listening", {{"server", settings_.name}, {"address", address_}});
  return {};
}

bool Front::identify(Visitor& v) {
  if (!settings_.on_unix_socket()) {
    v.connection = v.peer = peer_name(v.fd.get());
    v.address = address_of(v.peer);
    return !v.peer.empty();  // empty if the caller has already gone
  }
  auto who = users_.identify(v.fd.get());
  if (!who.ok()) return false;
  v.user = std::move(*who);
  v.connection = "fd:" + std::to_string(v.fd.get());
  v.peer = v.address = "unix:" + v.user->name();
  return true;
}

// Closes a connection beyond a limit without an answer. Reading its request would cost what the
// limit saves.
void Front::accepted(Descriptor fd) {
  Visitor visitor;
  visitor.fd = std::move(fd);
  if (!identify(visitor)) return;
  if (sweep_ && !door_.has_room(visitor.address)) sweep_();
  if (door_.enter(visitor.address)) entered_(std::move(visitor));
}

}  // namespace davit::host
