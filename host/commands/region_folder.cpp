#include "region_folder.hpp"

#include <algorithm>
#include <filesystem>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "read_file.hpp"
#include "rpc/agent_token_files.hpp"
#include "services/durable_file.hpp"

namespace davit::host {
namespace {

namespace json = boost::json;

constexpr std::string_view owner_end = ".owner";

std::string text_of(const RegionOwner& o) {
  return json::serialize(json::object{{"uid", o.uid},
                                      {"namespace", o.ns},
                                      {"name", o.name},
                                      {"agentName", o.agent_name},
                                      {"agentNamespace", o.agent_ns},
                                      {"claimedAt", o.claimed_at},
                                      {"joined", o.joined},
                                      {"removingSince", o.removing_since},
                                      {"leavingSince", o.leaving_since},
                                      {"withdrawnAt", o.withdrawn_at}}) +
         "\n";
}

std::optional<RegionOwner> owner_of(const std::string& text) {
  json::error_code bad;
  const json::value value = json::parse(text, bad);
  if (bad || !value.is_object()) return std::nullopt;
  const json::object& object = value.get_object();
  RegionOwner out;
  const auto read = [&](const char* key, std::string& into) {
    if (const auto* v = object.if_contains(key); v != nullptr && v->is_string())
      into = std::string(v->get_string());
  };
  const auto read_time = [&](const char* key, int64_t& into) {
    if (const auto* v = object.if_contains(key); v != nullptr && v->is_int64())
      into = v->get_int64();
  };
  read("uid", out.uid);
  read("namespace", out.ns);
  read("name", out.name);
  read("agentName", out.agent_name);
  read("agentNamespace", out.agent_ns);
  read_time("claimedAt", out.claimed_at);
  read_time("removingSince", out.removing_since);
  read_time("leavingSince", out.leaving_since);
  read_time("withdrawnAt", out.withdrawn_at);
  const auto* joined = object.if_contains("joined");
  out.joined = joined != nullptr && joined->is_bool() && joined->get_bool();
  if (out.uid.empty()) return std::nullopt;
  return out;
}

Error taken(const std::string& region, const RegionOwner& owner) {
  return {Code::already_exists, "region " + region + " is of another Cluster, " + owner.ns + "/" +
                                    owner.name + " (uid " + owner.uid + ")"};
}

}  // namespace

Result<> RegionFolder::require() const {
  std::error_code error;
  if (std::filesystem::is_directory(path_, error)) return {};
  return Error{Code::unavailable, "the folder " + path_ + " is not there"};
}

Result<std::optional<RegionOwner>> RegionFolder::owner(const std::string& region) const {
  const std::string path = owner_file(region);
  if (!is_there(path)) return std::optional<RegionOwner>();
  const auto text = read_file(path);
  auto out = text.ok() ? owner_of(*text) : std::nullopt;
  if (!out) {
    return Error{Code::failed_precondition,
                 path + " cannot be read, so nobody knows whose region " + region +
                     " is: look at it, and remove it if the region is given up"};
  }
  return out;
}

Result<std::vector<std::pair<std::string, RegionOwner>>> RegionFolder::owned_by(
    const std::string& uid) const {
  std::vector<std::pair<std::string, RegionOwner>> out;
  std::error_code error;
  for (std::filesystem::directory_iterator it(path_, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with('.') || !name.ends_with(owner_end)) continue;
    const std::string region = name.substr(1, name.size() - 1 - owner_end.size());
    auto found = owner(region);
    if (found.ok() && *found && (*found)->uid == uid) out.emplace_back(region, **found);
  }
  if (error) return Error{Code::unavailable, path_ + ": " + error.message()};
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return out;
}

Result<> RegionFolder::claim(const std::string& region, const RegionOwner& owner) const {
  if (is_there(token_file(region))) {
    auto there = this->owner(region);
    if (!there.ok()) return there.error();
    if (!*there) {
      return Error{Code::already_exists, "region " + region + " has a token, " +
                                             token_file(region) + ", that no Cluster has made"};
    }
  }
  // Of two Clusters one has the region.
  const std::string made = file("." + region + ".new-" + owner.uid);
  if (auto r = write_private_file(made, text_of(owner)); !r.ok()) return r;
  const auto claimed = name_file_once(made, owner_file(region));
  if (!claimed.ok()) return claimed.error();
  if (auto r = sync_folder(path_); !r.ok()) return r;
  if (*claimed) return {};
  auto there = this->owner(region);
  if (!there.ok()) return there.error();
  if (!*there) return Error{Code::unavailable, "region " + region + " is being given up"};
  if ((*there)->uid != owner.uid) return taken(region, **there);
  return {};
}

Result<> RegionFolder::note(const std::string& region, const RegionOwner& owner) const {
  const std::string made = file("." + region + ".new-" + owner.uid);
  if (auto r = write_private_file(made, text_of(owner)); !r.ok()) return r;
  if (auto r = name_file(made, owner_file(region)); !r.ok()) return r;
  return sync_folder(path_);
}

Result<> RegionFolder::release(const std::string& region) const {
  const auto there = owner(region);
  if (there.ok() && *there) {
    // What a note was killed in.
    if (auto r = remove(file("." + region + ".new-" + (*there)->uid)); !r.ok()) return r;
  }
  if (auto r = remove(file("." + region + ".token.new")); !r.ok()) return r;
  return remove(owner_file(region));
}

Result<std::string> RegionFolder::token(const std::string& region) const {
  auto made = AgentTokenFiles(path_).create(region, AgentTokenFiles::Existing::keep, {});
  if (!made.ok()) return made.error();
  return std::move(made->token);
}

Result<> RegionFolder::withdraw_token(const std::string& region) const {
  const auto removed = AgentTokenFiles(path_).remove(region, {});
  if (!removed.ok()) return removed.error();
  return {};
}

Result<> RegionFolder::remove(const std::string& path) const {
  if (auto r = remove_file(path); !r.ok()) return r;
  return sync_folder(path_);
}

}  // namespace davit::host
