// The user at the other end of a Unix socket, as the kernel tells it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include <davit/types.hpp>

#include "identity.hpp"

namespace davit::host {

// Who may use an operator's socket.
class PeerUsers {
 public:
  // Root and this process's own user always; `users` are names or numbers. INVALID_ARGUMENT when a
  // user or the group does not exist.
  static Result<PeerUsers> make(const std::vector<std::string>& users, const std::string& group);

  bool allows(uid_t, gid_t) const;
  // (gid_t)-1: no group.
  gid_t group() const { return group_; }
  // Of the socket. The kernel lets in only the owner by it, and the group that is named; when other
  // users are named it lets in everybody, and who is not named is refused by name.
  mode_t socket_mode() const;

  // Role operator, or no role when the user is not allowed.
  IdentityPtr identify(uid_t, gid_t) const;
  // SO_PEERCRED of a connected socket.
  Result<IdentityPtr> identify(int fd) const;

 private:
  std::vector<uid_t> uids_;
  gid_t group_ = static_cast<gid_t>(-1);
};

}  // namespace davit::host
