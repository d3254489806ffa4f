// Identifies the caller on a Unix socket by the user that the kernel names (SO_PEERCRED). Acceptor
// uses it for listeners on Unix sockets.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <davit/types.hpp>

#include "identity.hpp"

namespace davit::host {

// The user and group at the other end of a connected Unix socket. Nothing if the system does not
// tell.
std::optional<std::pair<uid_t, gid_t>> peer_credentials(int fd);

// The users that may call on a Unix socket.
class PeerUsers {
 public:
  // Root and this process's own user are always allowed. `users` are names or numbers.
  // INVALID_ARGUMENT if a user or the group does not exist.
  static Result<PeerUsers> make(const std::vector<std::string>& users, const std::string& group);

  bool allows(uid_t, gid_t) const;
  // (gid_t)-1 if no group is set.
  gid_t group() const { return group_; }
  // The mode of the socket. Without other users it admits the owner, and the group if one is set.
  // With other users it admits everybody, and the host then refuses users that are not allowed.
  mode_t socket_mode() const;

  // The identity of a user: role "operator" if the user is allowed, else an empty role. Looks up
  // names, which may take as long as the system's name service.
  IdentityPtr identify(uid_t, gid_t) const;

 private:
  std::vector<uid_t> uids_;
  gid_t group_ = static_cast<gid_t>(-1);
};

}  // namespace davit::host
