#include "api.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "selector.hpp"

namespace davit::cluster_memory {
namespace {

namespace json = boost::json;

Code code_of(int http, std::string_view reason) {
  if (http < 300) return Code::ok;
  switch (http) {
    case 404:
      return Code::not_found;
    case 409:
      return reason == "AlreadyExists" ? Code::already_exists : Code::aborted;
    case 410:
      return Code::out_of_range;
    default:
      return Code::invalid_argument;
  }
}

// The preconditions and the policy of a delete.
struct DeleteOptions {
  std::string uid, resource_version;
  bool orphan = false;
};

DeleteOptions delete_options(const cluster::Request& request, const json::object& body) {
  DeleteOptions out;
  out.uid = string_at(body, {"preconditions", "uid"});
  out.resource_version = string_at(body, {"preconditions", "resourceVersion"});
  std::string policy(string_at(body, {"propagationPolicy"}));
  if (policy.empty()) policy = query_value(request, "propagationPolicy");
  out.orphan = policy == "Orphan";
  return out;
}

std::string list_kind(const ResourceType& type) {
  return (type.kind.empty() ? "" : type.kind) + "List";
}

std::string api_version(const ResourceType& type) {
  return type.group.empty() ? type.version : type.group + "/" + type.version;
}

// A SelfSubjectAccessReview is answered and not stored. Everything is allowed here.
bool is_review(const cluster::Request& q) {
  return q.verb == DAVIT_VERB_CREATE && q.resource.group == "authorization.k8s.io" &&
         q.resource.resource == "selfsubjectaccessreviews";
}

cluster::Response reviewed(const cluster::Request& q) {
  boost::system::error_code bad;
  json::value review = json::parse(q.body, bad);
  if (bad || !review.is_object())
    return refuse({400, "BadRequest", "the body of the review is not JSON"}, {}, "");
  review.get_object()["status"] = {{"allowed", true}};
  return answer(201, json::serialize(review));
}

}  // namespace

cluster::Response answer(int http, std::string body) {
  cluster::Response r;
  r.http_status = http;
  r.body = std::move(body);
  r.headers = {{"content-type", "application/json"}};
  return r;
}

cluster::Response refuse(const Refusal& refusal, const ResourceType& type, std::string_view name) {
  json::object details = {{"name", name}, {"kind", type.resource}};
  if (!type.group.empty()) details["group"] = type.group;
  for (const auto& c : refusal.causes) {
    json::value& causes = details["causes"];
    if (!causes.is_array()) causes = json::array();
    causes.get_array().push_back(
        json::object{{"reason", c.reason}, {"message", c.message}, {"field", c.field}});
  }
  const json::object status = {{"kind", "Status"},           {"apiVersion", "v1"},
                               {"metadata", json::object{}}, {"status", "Failure"},
                               {"message", refusal.message}, {"reason", refusal.reason},
                               {"details", details},         {"code", refusal.http}};
  cluster::Response r = answer(refusal.http, json::serialize(status));
  r.code = code_of(refusal.http, refusal.reason);
  r.reason = refusal.reason;
  r.message = refusal.message;
  return r;
}

std::string qualified_resource(const ResourceType& type) {
  return type.group.empty() ? type.resource : type.resource + "." + type.group;
}

Refusal invalid(const ResourceType& type, std::string_view name, const std::string& cause) {
  const std::string kind = type.kind.empty() ? type.resource : type.kind;
  const size_t colon = std::min(cause.find(": "), cause.size());
  const std::string message = cause.substr(std::min(colon + 2, cause.size()));
  const bool forbidden = message.starts_with("Forbidden"), required = message.starts_with("Requ");
  const char* reason = forbidden  ? "FieldValueForbidden"
                       : required ? "FieldValueRequired"
                                  : "FieldValueInvalid";
  return {422,
          "Invalid",
          (type.group.empty() ? kind : kind + "." + type.group) + " \"" + std::string(name) +
              "\" is invalid: " + cause,
          {{reason, message, cause.substr(0, colon)}}};
}

std::string query_value(const cluster::Request& request, std::string_view key) {
  for (const auto& [k, v] : request.query) {
    if (k == key) return v;
  }
  return {};
}

Api::Api(Store& store, int64_t now_ms) : store_(store) {
  for (std::string name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    const json::object ns = {{"apiVersion", "v1"},
                             {"kind", "Namespace"},
                             {"metadata", {{"labels", {{"kubernetes.io/metadata.name", name}}}}},
                             {"spec", {{"finalizers", {"kubernetes"}}}},
                             {"status", {{"phase", "Active"}}}};
    store_.add({{"", "namespaces"}, "", name}, ns, now_ms);
  }
}

ResourceType Api::type(const cluster::Resource& resource) const {
  return resources_.by_resource(resource.group, resource.version, resource.resource);
}

std::optional<Refusal> Api::address(Call& call) const {
  const auto& q = call.request;
  const Refusal nowhere{404, "NotFound", "the server could not find the requested resource"};
  if (q.resource.resource.empty() || q.resource.version.empty()) return nowhere;
  call.type = type(q.resource);
  if (call.type.built_in && call.type.version != q.resource.version) return nowhere;
  if (call.type.built_in && !call.type.namespaced && !q.ns.empty()) return nowhere;
  if (!q.subresource.empty() && (q.subresource != "status" || q.name.empty())) return nowhere;
  call.key = {{q.resource.group, q.resource.resource}, q.ns, q.name};
  call.live = q.name.empty() ? nullptr : store_.find(call.key);
  call.dry = query_value(q, "dryRun") == "All";
  call.manager = query_value(q, "fieldManager");
  return std::nullopt;
}

cluster::Response Api::handle(const cluster::Request& request, int64_t now_ms) {
  if (is_review(request)) return reviewed(request);
  Call call{request, {}, {}, now_ms, nullptr, false, {}};
  if (auto refused = address(call)) return refuse(*refused, call.type, request.name);
  if (request.verb == DAVIT_VERB_GET) return request.name.empty() ? list(call) : read(call);
  if (request.verb == DAVIT_VERB_DELETE) return remove(call);
  return write(call);
}

cluster::Response Api::read(Call& call) const {
  // Pods run here whatever their runtime is called, so every RuntimeClass exists.
  if (call.live == nullptr && call.type.resource == "runtimeclasses") {
    const json::object there = {{"apiVersion", "node.k8s.io/v1"},
                                {"kind", "RuntimeClass"},
                                {"metadata", {{"name", call.key.name}}},
                                {"handler", call.key.name}};
    return answer(200, json::serialize(there));
  }
  if (call.live == nullptr) {
    return refuse(
        {404, "NotFound", qualified_resource(call.type) + " \"" + call.key.name + "\" not found"},
        call.type, call.key.name);
  }
  return answer(200, json::serialize(*call.live));
}

cluster::Response Api::list(const Call& call) const {
  auto labels = LabelSelector::parse(query_value(call.request, "labelSelector"));
  auto fields = FieldSelector::parse(query_value(call.request, "fieldSelector"));
  if (!labels.ok()) return refuse({400, "BadRequest", labels.error().message}, call.type, "");
  if (!fields.ok()) return refuse({400, "BadRequest", fields.error().message}, call.type, "");
  json::array items;
  for (const auto& object : store_.list(call.key.collection, call.key.ns)) {
    if (labels->matches(object_at(*object, {"metadata", "labels"})) &&
        fields->matches(string_at(*object, {"metadata", "namespace"}),
                        string_at(*object, {"metadata", "name"}))) {
      items.push_back(*object);
    }
  }
  const json::object out = {{"kind", list_kind(call.type)},
                            {"apiVersion", api_version(call.type)},
                            {"metadata", {{"resourceVersion", std::to_string(store_.version())}}},
                            {"items", std::move(items)}};
  return answer(200, json::serialize(out));
}

cluster::Response Api::remove(Call& call) {
  json::object body;
  if (!call.request.body.empty()) {
    boost::system::error_code bad;
    json::value parsed = json::parse(call.request.body, bad);
    if (bad || !parsed.is_object()) {
      return refuse({400, "BadRequest", "the body of the delete is not DeleteOptions in JSON"},
                    call.type, call.key.name);
    }
    body = std::move(parsed.get_object());
  }
  if (call.live == nullptr) return read(call);
  const DeleteOptions options = delete_options(call.request, body);
  auto differs = [&](std::string_view what, std::string_view wanted, std::string_view is) {
    return refuse(
        {409, "Conflict",
         "Operation cannot be fulfilled on " + qualified_resource(call.type) + " \"" +
             call.key.name + "\": the " + std::string(what) + " in the precondition (" +
             std::string(wanted) + ") does not match the " + std::string(what) + " in record (" +
             std::string(is) + "). The object might have been deleted and then recreated"},
        call.type, call.key.name);
  };
  const auto uid = string_at(*call.live, {"metadata", "uid"});
  const auto version = string_at(*call.live, {"metadata", "resourceVersion"});
  if (!options.uid.empty() && options.uid != uid) return differs("UID", options.uid, uid);
  if (!options.resource_version.empty() && options.resource_version != version) {
    return differs("ResourceVersion", options.resource_version, version);
  }
  if (!call.dry) store_.remove(call.key, options.orphan, call.now_ms);
  if (const Object marked = store_.find(call.key); marked != nullptr)
    return answer(200, json::serialize(*marked));
  json::object done = {
      {"kind", "Status"},
      {"apiVersion", "v1"},
      {"metadata", json::object{}},
      {"status", "Success"},
      {"details", {{"name", call.key.name}, {"kind", call.type.resource}, {"uid", uid}}}};
  return answer(200, json::serialize(done));
}

cluster::Response Api::discover(const std::string& group, const std::string& version,
                                const std::string& kind) const {
  const ResourceType t = resources_.by_kind(group, version, kind);
  if (t.built_in && !version.empty() && version != t.version) {
    return refuse({404, "NotFound", "no kind \"" + kind + "\" in " + group + "/" + version}, t, "");
  }
  return answer(200,
                json::serialize(json::object{{"group", t.group},
                                             {"version", version.empty() ? t.version : version},
                                             {"resource", t.resource},
                                             {"kind", t.kind},
                                             {"namespaced", t.namespaced}}));
}

cluster::Response Api::identity() const {
  const Object system = store_.find({{"", "namespaces"}, "", "kube-system"});
  if (system == nullptr)
    return refuse({404, "NotFound", "namespaces \"kube-system\" not found"}, {}, "kube-system");
  return answer(200, std::string(string_at(*system, {"metadata", "uid"})));
}

}  // namespace davit::cluster_memory
