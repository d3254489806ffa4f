// AgentTokensFolder: a folder in which every file REGION.token is the token of that region's
// agents. A region comes and goes with its file, and nobody has to tell the server. One thread at a
// time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <davit/types.hpp>

#include "file_look.hpp"
#include "settings.hpp"

namespace davit::host {

inline constexpr std::string_view agent_token_ending = ".token";

class AgentTokensFolder {
 public:
  // `path` may be empty: then there is no folder, and there are no tokens.
  explicit AgentTokensFolder(std::string path) : path_(std::move(path)) {}

  struct Found {
    std::vector<TokenSettings> tokens;  // by the names of their files
    std::vector<std::string> faults;    // files whose names are no regions
  };
  // What the folder has. Nothing if it has not changed since it was read last. An error if it
  // cannot be read. Blocks on the disk.
  Result<std::optional<Found>> read_if_changed();

 private:
  const std::string path_;
  FileLook look_;
  bool settled_ = false;  // no other contents can have the same look
};

}  // namespace davit::host
