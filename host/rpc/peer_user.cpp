#include "peer_user.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

namespace davit::host {

namespace {

constexpr size_t entry_bytes = 16'384;  // buffer for one entry of passwd or group
constexpr int groups_max = 1'024;

struct User {
  std::string name;
  gid_t group;
};

std::optional<User> user_of(uid_t uid) {
  std::vector<char> buffer(entry_bytes);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return User{entry.pw_name, entry.pw_gid};
}

std::optional<uid_t> uid_of(const std::string& name) {
  uid_t number = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  // (uid_t)-1 is no user.
  if (fault == std::errc() && end == name.data() + name.size() && number != static_cast<uid_t>(-1))
    return number;
  std::vector<char> buffer(entry_bytes);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return std::nullopt;
  }
  return entry.pw_uid;
}

std::optional<gid_t> gid_of(const std::string& name) {
  std::vector<char> buffer(entry_bytes);
  group entry{};
  group* found = nullptr;
  if (getgrnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr) {
    return std::nullopt;
  }
  return entry.gr_gid;
}

bool is_member(const User& user, gid_t group) {
  std::vector<gid_t> groups(groups_max);
  int count = groups_max;
  if (getgrouplist(user.name.c_str(), user.group, groups.data(), &count) < 0) return false;
  return std::find(groups.begin(), groups.begin() + count, group) != groups.begin() + count;
}

}  // namespace

std::optional<std::pair<uid_t, gid_t>> peer_credentials(int fd) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return std::pair{peer.uid, peer.gid};
}

Result<PeerUsers> PeerUsers::make(const std::vector<std::string>& users, const std::string& group) {
  PeerUsers out;
  out.uids_ = {0, geteuid()};
  for (const auto& name : users) {
    const auto uid = uid_of(name);
    if (!uid)
      return Error{Code::invalid_argument, "allow_users: there is no user \"" + name + "\""};
    out.uids_.push_back(*uid);
  }
  if (group.empty()) return out;
  const auto gid = gid_of(group);
  if (!gid)
    return Error{Code::invalid_argument, "allow_group: there is no group \"" + group + "\""};
  out.group_ = *gid;
  return out;
}

bool PeerUsers::allows(uid_t uid, gid_t gid) const {
  if (std::find(uids_.begin(), uids_.end(), uid) != uids_.end()) return true;
  if (group_ == static_cast<gid_t>(-1)) return false;
  if (gid == group_) return true;
  const auto user = user_of(uid);
  return user && is_member(*user, group_);
}

mode_t PeerUsers::socket_mode() const {
  constexpr mode_t owner = 0600, owner_and_group = 0660, everybody = 0666;
  const bool others = std::any_of(uids_.begin(), uids_.end(),
                                  [](uid_t uid) { return uid != 0 && uid != geteuid(); });
  if (others) return everybody;
  return group_ == static_cast<gid_t>(-1) ? owner : owner_and_group;
}

IdentityPtr PeerUsers::identify(uid_t uid, gid_t gid) const {
  const auto user = user_of(uid);
  const std::string name = user ? user->name : "uid " + std::to_string(uid);
  return std::make_shared<const Identity>("user \"" + name + "\"", name,
                                          allows(uid, gid) ? "operator" : "",
                                          std::vector<std::string>{"*"});
}

}  // namespace davit::host
