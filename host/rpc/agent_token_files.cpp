#include "agent_token_files.hpp"

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "services/credentials.hpp"
#include "services/durable_file.hpp"
#include "services/hexadecimal.hpp"
#include "token_file.hpp"

namespace davit::host {
namespace {

constexpr size_t random_bytes = 32;

std::string first_line(const std::string& path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

Error made_by_another(Code code, const std::string& region, const std::string& maker) {
  const std::string who = maker.empty() ? "by an operator" : "for " + maker;
  return {code, "the token of region " + region + " was made " + who};
}

}  // namespace

std::string folder_region_fault(const std::string& region) {
  std::string fault = region_fault(region);
  // The folder's reader passes over such files.
  if (fault.empty() && region.front() == '.')
    fault = "\"" + region + "\" is no region: a name begins with no \".\"";
  return fault;
}

Result<std::string> random_token() {
  std::array<unsigned char, random_bytes> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    return Error{Code::internal, std::string("no random bytes: ") + std::strerror(errno)};
  return hexadecimal(random);
}

bool AgentTokenFiles::has(const std::string& region) const {
  return is_there(file(region));
}

Result<AgentTokenFiles::Made> AgentTokenFiles::kept(const std::string& region) const {
  Made out;
  auto read = read_credential(file(region), true,
                              [&](std::string_view content) { out.token = token_of(content); });
  if (!read.ok()) return read.error();
  if (!out.token.empty()) return out;
  return Error{Code::failed_precondition, file(region) + ": " + no_token};
}

Result<AgentTokenFiles::Made> AgentTokenFiles::create(const std::string& region, Existing existing,
                                                      const std::string& maker) const {
  const Error has_one{Code::already_exists, "region " + region + " has a token, " + file(region)};
  const bool is_old = has(region);
  if (is_old) {
    const std::string other = first_line(maker_file(region));
    if (other != maker) return made_by_another(Code::already_exists, region, other);
    if (existing == Existing::keep) return kept(region);
    if (existing == Existing::refuse) return has_one;
  }
  auto token = random_token();
  if (!token.ok()) return token.error();
  const std::string made = folder_ + "/." + region + std::string(agent_token_ending) + ".new";
  if (auto r = write_private_file(made, *token + "\n"); !r.ok()) return r.error();
  // Before the token: who is killed in between finds again what is its own.
  const auto noted = maker.empty() ? remove_file(maker_file(region))
                                   : write_private_file(maker_file(region), maker + "\n");
  if (!noted.ok()) return noted.error();
  if (is_old) {
    if (auto r = name_file(made, file(region)); !r.ok()) return r.error();
  } else {
    // Two servers of one folder do not overwrite each other's.
    const auto placed = name_file_once(made, file(region));
    if (!placed.ok()) return placed.error();
    if (!*placed) return has_one;
  }
  if (auto r = sync_folder(folder_); !r.ok()) return r.error();
  return Made{std::move(*token), true};
}

Result<bool> AgentTokenFiles::remove(const std::string& region, const std::string& maker) const {
  const bool was = has(region);
  const std::string other = first_line(maker_file(region));
  if (was && !maker.empty() && other != maker)
    return made_by_another(Code::failed_precondition, region, other);
  for (const std::string& path : {file(region), maker_file(region)})
    if (auto r = remove_file(path); !r.ok()) return r.error();
  if (auto r = sync_folder(folder_); !r.ok()) return r.error();
  return was;
}

}  // namespace davit::host
