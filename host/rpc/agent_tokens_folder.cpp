#include "agent_tokens_folder.hpp"

#include <algorithm>
#include <filesystem>

namespace davit::host {

Result<std::optional<AgentTokensFolder::Found>> AgentTokensFolder::read_if_changed() {
  if (path_.empty()) return std::optional<Found>();
  const auto look = FileLook::of(path_);
  if (look && settled_ && *look == look_) return std::optional<Found>();
  std::error_code bad;
  std::filesystem::directory_iterator files(path_, bad);
  Found out;
  for (; !bad && files != std::filesystem::directory_iterator(); files.increment(bad)) {
    const std::string name = files->path().filename().string();
    if (name.starts_with('.') || !name.ends_with(agent_token_ending)) continue;
    const std::string region = name.substr(0, name.size() - agent_token_ending.size());
    if (const std::string fault = region_fault(region); !fault.empty()) {
      out.faults.push_back(files->path().string() + ": " + fault);
      continue;
    }
    TokenSettings token{name, files->path().string(), "agent", {region}};
    token.in_folder = true;
    out.tokens.push_back(std::move(token));
  }
  if (bad)
    return Error{Code::failed_precondition, "agent_tokens_dir: " + path_ + ": " + bad.message()};
  look_ = look.value_or(FileLook{});
  settled_ = look && look->settled();
  std::ranges::sort(out.tokens, {}, &TokenSettings::name);
  std::ranges::sort(out.faults);
  return std::optional<Found>(std::move(out));
}

}  // namespace davit::host
