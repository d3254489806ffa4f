// Acceptor is the part of a server before HTTP, the same for each transport: its sockets, the
// limits of connections, the callers' identities on Unix sockets, and the certificate. It hands
// each accepted connection to the transport.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <davit/types.hpp>

#include "admission.hpp"
#include "connection_limits.hpp"
#include "descriptor.hpp"
#include "listener.hpp"
#include "peer_user.hpp"
#include "server_certificate.hpp"
#include "settings.hpp"

namespace boost::asio {
class thread_pool;
}

namespace davit::host {

class PassedSockets;
struct Core;

// A connection that ConnectionLimits has let in.
struct AcceptedConnection {
  Descriptor fd;
  std::string connection;  // unique: "ipv4:10.1.2.3:5000"; on a Unix socket "unix:root#7"
  std::string peer;        // for logs: "ipv4:10.1.2.3:5000", "unix:root"
  std::string address;     // the name to give to ConnectionLimits::leave: "10.1.2.3", "unix:uid 0"
  IdentityPtr user;        // only on a Unix socket
};

class Acceptor {
 public:
  // Called on the listener's thread; on a Unix socket, on the thread that looks up users.
  using Entered = std::function<void(AcceptedConnection)>;

  Acceptor(const Core&, ServerSettings, const MethodRegistry&);
  ~Acceptor();

  const ServerSettings& settings() const { return settings_; }
  Admission& admission() { return admission_; }
  ServerCertificate& certificate() { return certificate_; }  // loaded if the server uses TLS
  ConnectionLimits& connection_limits() { return connection_limits_; }

  // Reads token and certificate files and resolves the names of users. Errors name the server.
  Result<> check();
  // Opens the sockets. Errors name the server, the address, and the setting to change.
  Result<> bind();
  // Begins to accept. `sweep` is called on the listener's thread before a connection is refused, so
  // that the transport can release connections that are gone or idle.
  Result<> start(Entered, std::function<void()> sweep = {});
  // The process goes down. While the service manager holds the sockets, further callers wait for
  // the next process. Otherwise they are still let in, and told to come back. Idempotent.
  void drain();
  // No connection is handed over after it. Idempotent.
  void stop();
  // The address with its real port, once bound.
  const std::string& address() const { return address_; }
  std::string name() const { return "rpc.server." + settings_.name; }

 private:
  Result<> prepare();
  // True: the service manager listens at the address, and has passed the sockets.
  Result<bool> take_over();
  void accepted(Descriptor);
  void accepted_local(AcceptedConnection);
  bool has_entered(const std::string& address);

  Log& log_;
  PassedSockets* const passed_;
  const ServerSettings settings_;
  Admission admission_;
  ServerCertificate certificate_;
  ConnectionLimits connection_limits_;
  PeerUsers users_;
  Listener listener_;
  bool is_held_ = false;  // by the service manager
  std::string address_;
  Entered entered_;
  std::function<void()> sweep_;
  uint64_t connections_ = 0;  // of a Unix socket so far; used on the thread that looks up users
  // Looks up the users of a Unix socket: the system's name service may be slow.
  std::unique_ptr<boost::asio::thread_pool> users_thread_;
};

}  // namespace davit::host
