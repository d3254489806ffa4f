#include "manifest.hpp"

#include <algorithm>
#include <set>

#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>

#include "kubernetes/fields.hpp"
#include "kubernetes/written.hpp"
#include "wanted.hpp"

namespace davit::manifest {
namespace json = boost::json;
using namespace kubernetes;
namespace {

Result<Named> named_in(const json::object& message) {
  std::optional<Error> fault;
  const Fields f(message, fault);
  Named named{f.string("id"), f.needed("namespace"), f.needed("name")};
  if (fault) return *fault;
  if (named.id.empty()) named.id = named.ns + "." + named.name;
  return named;
}

Result<> check_names(const Named& named, const Site& site) {
  std::optional<Error> fault;
  const auto complain = [&](const char* where, std::optional<std::string> what) {
    if (what && !fault) fault = Error{Code::invalid_argument, std::move(*what), where};
  };
  complain("namespace", dns_label_fault(named.ns));
  complain("name", dns_subdomain_fault(named.name));
  const auto& allowed = site.namespaces;
  if (!allowed.empty() && std::find(allowed.begin(), allowed.end(), named.ns) == allowed.end())
    complain("namespace",
             "\"" + named.ns + "\" is not among the `namespaces` that manifests may " + "use here");
  if (fault) return *fault;
  return {};
}

// Two objects of one name would be one object. The version of their API does not tell them apart.
Result<> check_twins(const std::vector<Wanted>& objects) {
  std::set<std::tuple<std::string_view, std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < objects.size(); ++i) {
    const Wanted& w = objects[i];
    if (!seen.emplace(w.as->group, w.as->kind, w.name).second) {
      return Error{Code::invalid_argument, called(w.as->kind, w.name) + ": is there twice",
                   "objects[" + std::to_string(i) + "]"};
    }
  }
  return {};
}

}  // namespace

std::string called(std::string_view kind, std::string_view name) {
  return std::string(kind) + " " + std::string(name);
}

Result<Manifest> read_manifest(const json::object& message, const Site& site) {
  auto named = named_in(message);
  if (!named.ok()) return named.error();
  if (auto r = check_names(*named, site); !r.ok()) return r.error();
  const auto* objects = message.if_contains("objects");
  const auto* list = objects == nullptr ? nullptr : objects->if_array();
  if (list == nullptr || list->empty())
    return Error{Code::invalid_argument, "must be a list of at least one object", "objects"};
  if (list->size() > objects_max) {
    return Error{Code::invalid_argument,
                 "has " + std::to_string(list->size()) + " objects, and may have " +
                     std::to_string(objects_max) + ": make several records of them",
                 "objects"};
  }
  Manifest out{named->id, named->ns, named->name, {}};
  for (size_t i = 0; i < list->size(); ++i) {
    auto wanted = read_wanted((*list)[i], "objects[" + std::to_string(i) + "]", out.ns, site);
    if (!wanted.ok()) return wanted.error();
    out.objects.push_back(std::move(*wanted));
  }
  if (auto r = check_twins(out.objects); !r.ok()) return r.error();
  std::stable_sort(out.objects.begin(), out.objects.end(), [](const Wanted& a, const Wanted& b) {
    return rank_of(a.as->group, a.as->kind) < rank_of(b.as->group, b.as->kind);
  });
  return out;
}

Result<Named> identify(std::string_view apply) {
  const auto message = parse_object(apply, "the manifest");
  if (!message.ok()) return message.error();
  return named_in(message->get_object());
}

Result<> validate(std::string_view apply, const Site& site) {
  if (auto r = check_written(apply, object_depth_max); !r.ok()) return r;
  const auto message = parse_object(apply, "the manifest");
  if (!message.ok()) return message.error();
  const auto manifest = read_manifest(message->get_object(), site);
  if (!manifest.ok()) return manifest.error();
  return {};
}

}  // namespace davit::manifest
