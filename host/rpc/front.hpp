// Front is the part of a server before HTTP, the same for each transport: its sockets, the limits
// of connections, the callers' identities on Unix sockets, and the certificate. It hands each
// accepted connection to the transport.
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

// A connection that Door accepted.
struct Visitor {
  Descriptor fd;
  std::string connection;  // unique: "ipv4:10.1.2.3:5000"; on a Unix socket "fd:12"
  std::string peer;        // for logs: the same, or "unix:root"
  std::string address;     // the name to give to Door::leave
  IdentityPtr user;        // only on a Unix socket
};

class Front {
 public:
  // Called on the listener's thread.
  using Entered = std::function<void(Visitor)>;

  Front(const Core&, ServerSettings, const MethodRegistry&);

  const ServerSettings& settings() const { return settings_; }
  Admission& admission() { return admission_; }
  ServerCertificate& certificate() { return certificate_; }  // loaded if the server uses TLS
  Door& door() { return door_; }

  // Reads token and certificate files and resolves the names of users. Errors name the server.
  Result<> check();
  // Opens the sockets. Errors name the server, the address, and the setting to change.
  Result<> bind();
  // Begins to accept. `sweep` is called on the listener's thread before a connection is refused, so
  // that the transport can release connections that are gone or idle.
  Result<> start(Entered, std::function<void()> sweep = {});
  // No connection is handed over after it. Idempotent.
  void stop() { listener_.stop(); }
  // The address with its real port, once bound.
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
