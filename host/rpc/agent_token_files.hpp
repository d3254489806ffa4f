// AgentTokenFiles makes and removes the tokens of an agent_tokens_dir: what AgentTokensFolder
// reads. REGION.token is a region's token, and .REGION.maker says who has made it, if they said so.
// Each file is there as a whole or not at all. Blocks on the disk.
#pragma once

#include <string>

#include <davit/types.hpp>

#include "agent_tokens_folder.hpp"

namespace davit::host {

// What is wrong with the name of a region whose token stands in a folder. Empty if nothing is.
std::string folder_region_fault(const std::string& region);

// 32 random bytes as 64 hexadecimal digits.
Result<std::string> random_token();

class AgentTokenFiles {
 public:
  explicit AgentTokenFiles(std::string folder) : folder_(std::move(folder)) {}

  enum class Existing {
    refuse,   // ALREADY_EXISTS
    keep,     // it is answered
    replace,  // another takes its place
  };
  struct Made {
    std::string token;
    bool created = false;
  };
  // The region's token, made if there is none. ALREADY_EXISTS: there is one, or another maker has
  // made it. `maker` may be empty.
  Result<Made> create(const std::string& region, Existing, const std::string& maker) const;
  // Whether there was one. FAILED_PRECONDITION: another maker has made it; with an empty `maker`
  // whoever has made it.
  Result<bool> remove(const std::string& region, const std::string& maker) const;
  bool has(const std::string& region) const;
  std::string file(const std::string& region) const {
    return folder_ + "/" + region + std::string(agent_token_ending);
  }

 private:
  std::string maker_file(const std::string& region) const {
    return folder_ + "/." + region + ".maker";
  }
  Result<Made> kept(const std::string& region) const;

  std::string folder_;
};

}  // namespace davit::host
