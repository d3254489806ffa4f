// Identity is a caller that the host has verified, by a bearer token or by the user of a Unix
// socket. TokenStore and PeerUsers make it, and every call of the caller shares it.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

class Identity {
 public:
  // `subject` names the caller in refusals: `token "a"`, `user "bob"`. A caller with an empty role
  // may call nothing.
  Identity(std::string subject, std::string name, std::string role,
           std::vector<std::string> regions)
      : subject_(std::move(subject)),
        name_(std::move(name)),
        role_(std::move(role)),
        regions_(std::move(regions)) {
    for (const auto& region : regions_) region_views_.push_back(str(region));
    abi_ = {sizeof abi_, static_cast<uint32_t>(region_views_.size()), str(name_), str(role_),
            region_views_.data()};
  }
  Identity(const Identity&) = delete;
  Identity& operator=(const Identity&) = delete;

  const std::string& subject() const { return subject_; }
  const std::string& name() const { return name_; }
  const std::string& role() const { return role_; }
  const davit_identity* abi() const { return &abi_; }

  // Marks the token as removed or replaced: the server then ends the calls that began with it.
  // [any]
  void revoke() const { revoked_.store(true, std::memory_order_release); }
  bool is_revoked() const { return revoked_.load(std::memory_order_acquire); }

 private:
  std::string subject_, name_, role_;
  std::vector<std::string> regions_;
  std::vector<davit_str> region_views_;
  davit_identity abi_{};
  mutable std::atomic<bool> revoked_{false};
};

// Shared by the calls of one caller. When a token's file changes, its identity is revoked and a new
// one is made.
using IdentityPtr = std::shared_ptr<const Identity>;

}  // namespace davit::host
