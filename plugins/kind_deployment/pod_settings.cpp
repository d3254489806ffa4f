#include "pod_settings.hpp"

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <davit/kubernetes/names.hpp>
#include <davit/kubernetes/quantity.hpp>

#include "kubernetes/message.hpp"
#include "kubernetes/pod_template.hpp"

namespace davit::deployment {
namespace json = boost::json;
using namespace kubernetes;
namespace {

using Texts = std::map<std::string, std::string>;

// The site's settings and the fields of a record answer the same questions. What is absent leaves
// the value as it is.
class FromSite {
 public:
  explicit FromSite(const Settings& s) : s_(s) {}
  bool has(const char* key) const { return s_.has(key); }
  void read(const char* key, std::string& to) const { to = s_.string(key, to); }
  void read(const char* key, bool& to) const { to = s_.boolean(key, to); }
  void read(const char* key, int64_t& to, int64_t max) const { to = s_.integer(key, to, 0, max); }
  void read(const char* key, Texts& to) const {
    if (!s_.has(key)) return;
    for (auto& [name, value] : s_.table(key).entries()) to[name] = std::move(value);
  }
  void read(const char* key, json::object& to) const {
    const auto text = s_.optional_string(key);
    if (!text) return;
    if (text->empty()) return to.clear();
    boost::system::error_code failed;
    json::value value = json::parse(*text, failed);
    if (failed || !value.is_object())
      s_.reject(key, "must be a JSON object in a string");
    else
      to = std::move(value.get_object());
  }
  void reject(const char* key, const std::string& fault) const { s_.reject(key, fault); }

 private:
  const Settings& s_;
};

class FromRecord {
 public:
  explicit FromRecord(const Fields& f) : f_(f) {}
  bool has(const char* key) const { return f_.has(key); }
  void read(const char* key, std::string& to) const {
    if (auto text = f_.optional_string(key)) to = std::move(*text);
  }
  void read(const char* key, bool& to) const { to = f_.optional_boolean(key).value_or(to); }
  void read(const char* key, int64_t& to, int64_t max) const {
    to = f_.optional_integer(key, 0, max).value_or(to);
  }
  void read(const char* key, Texts& to) const {
    const auto* object = f_.object(key);
    if (object == nullptr) return;
    const Fields each = f_.inside(*object, key);
    for (const auto& member : *object) {
      const std::string name(member.key().data(), member.key().size());
      to[name] = each.string(name);
    }
  }
  void read(const char* key, json::object& to) const {
    const auto* object = f_.is_empty_string(key) ? nullptr : f_.object(key);
    if (object == nullptr) return;
    if (object->contains(raw_bytes_key)) reject(key, "must be a JSON object");
    to = *object;
  }
  void reject(const char* key, const std::string& fault) const { f_.reject(key, fault); }

 private:
  const Fields& f_;
};

template <class From>
void read_security(const From& from, PodSecurity& to) {
  std::string standard;
  from.read("pod_security", standard);
  if (standard == "restricted") {
    to = {true, true, true, true};
  } else if (standard == "unrestricted") {
    to = {};
  } else if (from.has("pod_security")) {
    from.reject("pod_security", R"(must be "restricted" or "unrestricted")");
  }
  from.read("run_as_non_root", to.run_as_non_root);
  from.read("no_new_privileges", to.no_new_privileges);
  from.read("drop_capabilities", to.drop_capabilities);
  from.read("seccomp_runtime_default", to.seccomp_runtime_default);
}

// Labels and annotations by which the kind knows its own objects.
bool is_own(const std::string& key, const Labels& own) {
  if (key == labels::managed_by || key == labels::component || key.starts_with("davit.dev/"))
    return true;
  return own.prefix.empty() ? key.ends_with(".id") || key == "inject" : key.starts_with(own.prefix);
}

template <class From>
void check(const From& from, const PodSettings& pod, const Labels& own) {
  const auto complain = [&](const char* key, const std::optional<std::string>& fault) {
    if (fault) from.reject(key, *fault);
  };
  for (const auto& [key, name] : {std::pair("service_account", &pod.service_account),
                                  std::pair("priority_class", &pod.priority_class)}) {
    if (!name->empty()) complain(key, dns_subdomain_fault(*name));
  }
  const auto keys = [&](const char* field, const Texts& texts, bool are_labels) {
    for (const auto& [key, value] : texts) {
      complain(field, label_key_fault(key));
      if (!are_labels) continue;
      if (auto fault = label_value_fault(value)) from.reject(field, key + ": " + *fault);
    }
  };
  keys("node_selector", pod.node_selector, true);
  keys("labels", pod.labels, true);
  keys("annotations", pod.annotations, false);
  for (const auto& [field, texts] :
       {std::pair("labels", &pod.labels), std::pair("annotations", &pod.annotations)}) {
    for (const auto& entry : *texts) {
      if (is_own(entry.first, own)) from.reject(field, entry.first + " is written by the kind");
    }
  }
}

template <class From>
void read_all(const From& from, PodSettings& to, const Labels& own) {
  from.read("service_account", to.service_account);
  from.read("mount_service_account_token", to.mount_service_account_token);
  from.read("priority_class", to.priority_class);
  from.read("node_selector", to.node_selector);
  from.read("labels", to.labels);
  from.read("annotations", to.annotations);
  from.read("affinity", to.affinity);
  read_security(from, to.security);
  check(from, to, own);
}

void add_all(json::object& to, const Texts& texts) {
  for (const auto& [key, value] : texts) to[key] = value;
}

void add_security(json::object& pod_spec, json::object& container, const PodSecurity& s) {
  json::object pod, own;
  if (s.run_as_non_root) pod["runAsNonRoot"] = true;
  if (s.seccomp_runtime_default) pod["seccompProfile"] = {{"type", "RuntimeDefault"}};
  if (s.no_new_privileges) own["allowPrivilegeEscalation"] = false;
  if (s.drop_capabilities) own["capabilities"] = {{"drop", json::array{"ALL"}}};
  if (!pod.empty()) pod_spec["securityContext"] = std::move(pod);
  if (!own.empty()) container["securityContext"] = std::move(own);
}

}  // namespace

PodSettings read_pod_settings(const Settings& settings, const Labels& own) {
  PodSettings out;
  const FromSite from(settings);
  read_all(from, out, own);
  from.read("ephemeral_storage_mib", out.ephemeral_storage_mib, memory_mib_top);
  return out;
}

PodSettings read_pod_settings(const Fields& message, const PodSettings& site, const Labels& own) {
  PodSettings out = site;
  if (const auto* storage = message.object("ephemeral_storage")) {
    const Fields inside = message.inside(*storage, "ephemeral_storage");
    FromRecord(inside).read("size_mib", out.ephemeral_storage_mib, memory_mib_top);
  }
  if (const auto* object = message.object("pod")) {
    const Fields inside = message.inside(*object, "pod");
    read_all(FromRecord(inside), out, own);
  }
  return out;
}

void add_pod_settings(json::object& pod_template, const PodSettings& pod) {
  json::object& metadata = pod_template["metadata"].as_object();
  json::object& spec = pod_template["spec"].as_object();
  json::object& container = spec["containers"].as_array()[0].as_object();
  add_all(metadata["labels"].as_object(), pod.labels);
  if (!pod.annotations.empty()) add_all(object_made(metadata, "annotations"), pod.annotations);
  if (!pod.priority_class.empty()) spec["priorityClassName"] = pod.priority_class;
  if (!pod.node_selector.empty()) add_all(spec["nodeSelector"].emplace_object(), pod.node_selector);
  if (!pod.affinity.empty()) spec["affinity"] = pod.affinity;
  if (pod.ephemeral_storage_mib != 0) {
    for (const char* of : {"limits", "requests"}) {
      container["resources"].as_object()[of].as_object()["ephemeral-storage"] =
          memory_quantity(pod.ephemeral_storage_mib);
    }
  }
  add_security(spec, container, pod.security);
}

}  // namespace davit::deployment
