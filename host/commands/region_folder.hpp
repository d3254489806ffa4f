// The folder of a server's agent tokens (agent_tokens_dir), as who makes regions of Clusters keeps
// it: REGION.token is the token of a region's agents, and .REGION.owner says which Cluster the
// region is made of. The owner's file is made before everything else of the region and removed
// after all, so whoever is killed in between finds again what is its own. Each file is there as a
// whole or not at all, also after a loss of power.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <davit/types.hpp>

#include "rpc/agent_tokens_folder.hpp"

namespace davit::host {

// Times are Unix milliseconds; 0: not yet.
struct RegionOwner {
  std::string uid, ns, name;         // of the Cluster
  std::string agent_name, agent_ns;  // of its agent's objects
  int64_t claimed_at = 0;
  bool joined = false;         // its agent has reported
  int64_t removing_since = 0;  // its records are being removed
  int64_t leaving_since = 0;   // they are gone, or given up; the agent is being removed
  int64_t withdrawn_at = 0;    // the token is gone

  bool operator==(const RegionOwner&) const = default;
};

class RegionFolder {
 public:
  explicit RegionFolder(std::string path) : path_(std::move(path)) {}

  // UNAVAILABLE: the folder is not there; it may be one that is not mounted.
  Result<> require() const;
  // nullopt: the region has none. FAILED_PRECONDITION: its file cannot be read.
  Result<std::optional<RegionOwner>> owner(const std::string& region) const;
  // The regions of this Cluster. Files that cannot be read are nobody's.
  Result<std::vector<std::pair<std::string, RegionOwner>>> owned_by(const std::string& uid) const;
  // Makes the owner's file. ALREADY_EXISTS: another Cluster has the region, or it has a token of
  // which no Cluster is the owner.
  Result<> claim(const std::string& region, const RegionOwner& owner) const;
  // Writes it anew. Only its owner does.
  Result<> note(const std::string& region, const RegionOwner& owner) const;
  Result<> release(const std::string& region) const;
  // The region's token, made if there is none.
  Result<std::string> token(const std::string& region) const;
  Result<> withdraw_token(const std::string& region) const;
  std::string token_file(const std::string& region) const {
    return file(region + std::string(agent_token_ending));
  }

 private:
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string owner_file(const std::string& region) const { return file("." + region + ".owner"); }
  Result<> remove(const std::string& path) const;

  std::string path_;
};

}  // namespace davit::host
