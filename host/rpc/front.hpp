// What stands in front of a server's HTTP, whatever the transport: its sockets, how many may come
// in, who they are, and its certificate.
#pragma once

#include <functional>
#include <string>

#include <davit/types.hpp>

#include "admission.hpp"
#include "descriptor.hpp"
#include "door.hpp"
#include "listener.hpp"
#include "peer_user.hpp"
#include "server_certificate.hpp"
#include "settings.hpp"

namespace davit::host {

struct Core;

// A connection that was let in.
struct Visitor {
  Descriptor fd;
  std::string connection;  // of its own: "ipv4:10.1.2.3:5000"; on a Unix socket "fd:12"
  std::string peer;        // for people: the same, or "unix:root"
  std::string address;     // leaves the door by this name
  IdentityPtr user;        // on a Unix socket
};

class Front {
 public:
  // Both on the listener's thread.
  using Entered = std::function<void(Visitor)>;

  Front(const Core&, ServerSettings, const MethodRegistry&);

  const ServerSettings& settings() const { return settings_; }
  Admission& admission() { return admission_; }
  ServerCertificate& certificate() { return certificate_; }  // with TLS
  Door& door() { return door_; }

  // Reads the files and looks the users up. Errors name the server.
  Result<> check();
  // The errors name the server, the address, and what to change.
  Result<> bind();
  // `sweep` is called when there is no room: for a transport that has to look who has left, or who
  // could.
  Result<> start(Entered, std::function<void()> sweep = {});
  // No connection comes after it. Idempotent.
  void stop() { listener_.stop(); }
  // Where it listens, with the real port; once bound.
  const std::string& address() const { return address_; }
  std::string name() const { return "rpc.server." + settings_.name; }

 private:
  Result<> prepare();
  void accepted(Descriptor);
  bool identify(Visitor&);

  Log& log_;
  const ServerSettings settings_;
  Admission admission_;
  ServerCertificate certificate_;
  Door door_;
  PeerUsers users_;
  Listener listener_;
  std::string address_;
  Entered entered_;
  std::function<void()> sweep_;
};

}  // namespace davit::host
