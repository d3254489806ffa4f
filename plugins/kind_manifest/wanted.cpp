#include "wanted.hpp"

#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/json.hpp"
#include "kubernetes/objects.hpp"
#include "marks.hpp"
#include "secret.hpp"

namespace davit::manifest {
namespace json = boost::json;
using namespace kubernetes;
namespace {

// What the cluster writes. Somebody who copied an object out of it has these.
constexpr std::string_view written_by_cluster[] = {
    "uid",      "resourceVersion",   "managedFields",     "generation",
    "selfLink", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"};

// Members that say nothing, and that tools write all the same.
void drop_empty(json::object& object) {
  const auto* status = object.if_contains("status");
  if (status != nullptr &&
      (status->is_null() || (status->is_object() && status->get_object().empty())))
    object.erase("status");
  auto* metadata = object.if_contains("metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  for (const char* key : {"creationTimestamp", "labels", "annotations", "namespace"}) {
    const auto* value = metadata->get_object().if_contains(key);
    if (value != nullptr && value->is_null()) metadata->get_object().erase(key);
  }
}

// Reads one object member by member. The first fault is kept; its message names the object.
class Reader {
 public:
  Reader(const std::string& path, const std::string& ns, const Site& site)
      : path_(path), ns_(ns), site_(site) {}

  Result<Wanted> read(const json::value& written) {
    const auto* object = written.if_object();
    if (object == nullptr) return refused("", "must be an object of Kubernetes");
    Wanted out;
    out.object = *object;
    drop_empty(out.object);
    kind_ = text_in(out.object, "kind");
    name_ = text_at(out.object, "/metadata/name");
    type(out);
    if (!fault_) metadata(out);
    if (!fault_ && out.object.contains("status"))
      refuse("status", "is what the cluster reports: leave it out");
    if (!fault_ && out.as->group.empty() && out.as->kind == "Secret") secret(out);
    if (fault_) return *fault_;
    return out;
  }

 private:
  // "Deployment web: ...", as far as it is known what it is.
  Error refused(std::string_view where, std::string message) const {
    std::string who = kind_;
    if (!name_.empty()) who += (who.empty() ? "" : " ") + name_;
    std::string path = path_;
    if (!where.empty()) path.append(".").append(where);
    return {Code::invalid_argument, (who.empty() ? "" : who + ": ") + std::move(message),
            std::move(path)};
  }
  void refuse(std::string_view where, std::string message) {
    if (!fault_) fault_ = refused(where, std::move(message));
  }

  void type(Wanted& out) {
    const std::string version(text_in(out.object, "apiVersion"));
    if (version.empty()) return refuse("apiVersion", "is missing");
    if (kind_.empty()) return refuse("kind", "is missing");
    const std::string_view group = group_of(version);
    out.as = site_.find(group, kind_);
    if (out.as == nullptr) {
      if (out.object.contains("items"))
        return refuse("kind", "is a list: write its items one by one");
      if (is_cluster_scoped(group, kind_))
        return refuse("kind",
                      "is not of a namespace; a manifest has objects of one namespace only");
      return refuse("kind", version + "/" + kind_ +
                                " is not among the `kinds` that manifests may " + "have here");
    }
    if (out.as->api_version() != version)
      refuse("apiVersion",
             "must be " + out.as->api_version() + ", as `kinds` has it here, not " + version);
  }

  void metadata(Wanted& out) {
    auto* member = out.object.if_contains("metadata");
    if (member == nullptr) return refuse("metadata", "is missing");
    if (!member->is_object()) return refuse("metadata", "must be an object");
    json::object& metadata = member->get_object();
    if (metadata.contains("generateName")) {
      return refuse("metadata.generateName",
                    "makes another object each time: give the object a name");
    }
    for (const auto key : written_by_cluster) {
      if (metadata.contains(key))
        return refuse("metadata." + std::string(key), "is what the cluster writes: leave it out");
    }
    name(out);
    place(metadata);
    for (const char* key : {"labels", "annotations"}) texts(metadata, key);
  }

  void name(Wanted& out) {
    if (name_.empty()) return refuse("metadata.name", "is missing");
    out.name = name_;
    // Roles may have any name that fits into a path.
    if (out.as->group == "rbac.authorization.k8s.io") {
      if (name_ == "." || name_ == ".." || name_.find_first_of("/%") != name_.npos)
        refuse("metadata.name", "must not contain \"/\" or \"%\", and not be \".\" or \"..\"");
    } else if (auto fault = dns_subdomain_fault(name_)) {
      refuse("metadata.name", *fault);
    }
  }

  void place(json::object& metadata) {
    const auto* said = metadata.if_contains("namespace");
    if (said != nullptr && text_of(said) != ns_) {
      const std::string other(text_of(said));
      return refuse("metadata.namespace",
                    other.empty() ? "must be \"" + ns_ + "\", the record's, or left out"
                                  : "must be \"" + ns_ + "\", the record's, and not \"" + other +
                                        "\": put it into a record of its own");
    }
    metadata["namespace"] = ns_;
  }

  void texts(const json::object& metadata, const std::string& key) {
    const auto* member = metadata.if_contains(key);
    if (member == nullptr) return;
    if (!member->is_object()) return refuse("metadata." + key, "must be an object");
    for (const auto& [name, value] : member->get_object()) {
      const std::string where = "metadata." + key + "[\"" + std::string(name) + "\"]";
      if (name.starts_with(marks::prefix)) return refuse(where, "is Davit's own: leave it out");
      if (!value.is_string()) return refuse(where, "must be a text: write it in quotes");
    }
  }

  void secret(Wanted& out) {
    if (auto r = read_secret(out, site_); !r.ok()) refuse(r.error().where, r.error().message);
  }

  const std::string& path_;
  const std::string& ns_;
  const Site& site_;
  std::string kind_, name_;
  std::optional<Error> fault_;
};

}  // namespace

Result<Wanted> read_wanted(const json::value& written, const std::string& path,
                           const std::string& ns, const Site& site) {
  return Reader(path, ns, site).read(written);
}

}  // namespace davit::manifest
