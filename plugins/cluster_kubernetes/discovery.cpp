#include "discovery.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "kubernetes/json.hpp"

namespace davit::cluster_kubernetes {
namespace {

namespace json = boost::json;
using kubernetes::array_in;
using kubernetes::object_in;
using kubernetes::text_in;

// Custom resources come and go. A resource list is trusted for this long.
constexpr std::chrono::minutes trusted_for{10};

}  // namespace

std::string Discovery::path(const std::string& group, const std::string& version) {
  if (group.empty()) return "/api/" + (version.empty() ? "v1" : version);
  return "/apis/" + group + (version.empty() ? "" : "/" + version);
}

std::string Discovery::preferred(const std::string& body) {
  boost::system::error_code bad;
  const auto v = json::parse(body, bad);
  if (bad || !v.is_object()) return {};
  return std::string(text_in(object_in(v.get_object(), "preferredVersion"), "version"));
}

Discovery::Scope Discovery::scope(const std::string& body, const std::string& resource) {
  boost::system::error_code bad;
  const auto v = json::parse(body, bad);
  const auto* list = bad || !v.is_object() ? nullptr : array_in(v.get_object(), "resources");
  if (list == nullptr) return Scope::unknown;
  for (const auto& item : *list) {
    if (!item.is_object() || text_in(item.get_object(), "name") != resource) continue;
    const auto* inside = item.get_object().if_contains("namespaced");
    const bool namespaced = inside != nullptr && inside->is_bool() && inside->get_bool();
    return namespaced ? Scope::namespaced : Scope::cluster;
  }
  return Scope::unknown;
}

Result<> Discovery::learn(const std::string& group, const std::string& version,
                          const std::string& body, std::chrono::nanoseconds now) {
  boost::system::error_code bad;
  const auto v = json::parse(body, bad);
  const auto* list = bad || !v.is_object() ? nullptr : array_in(v.get_object(), "resources");
  if (list == nullptr) {
    return Error{Code::internal,
                 "the API server's discovery of " + group + "/" + version + " cannot be read"};
  }
  for (const auto& item : *list) {
    if (!item.is_object()) continue;
    const auto& o = item.get_object();
    const std::string name(text_in(o, "name"));
    if (name.find('/') != std::string::npos) continue;  // a subresource
    const auto* namespaced = o.if_contains("namespaced");
    const bool inside = namespaced != nullptr && namespaced->is_bool() && namespaced->get_bool();
    resources_[{group, version, std::string(text_in(o, "kind"))}] = {name, inside, now};
  }
  return {};
}

std::string Discovery::preferred_of(const std::string& group) const {
  if (group.empty()) return "v1";
  auto it = preferred_.find(group);
  return it == preferred_.end() ? std::string() : it->second;
}

std::optional<std::string> Discovery::find(const std::string& group, const std::string& version,
                                           const std::string& kind,
                                           std::chrono::nanoseconds now) const {
  const std::string v = version.empty() ? preferred_of(group) : version;
  auto it = resources_.find({group, v, kind});
  if (it == resources_.end() || now - it->second.learned > trusted_for) return std::nullopt;
  return json::serialize(json::object{{"group", group},
                                      {"version", v},
                                      {"resource", it->second.resource},
                                      {"kind", kind},
                                      {"namespaced", it->second.namespaced}});
}

}  // namespace davit::cluster_kubernetes
