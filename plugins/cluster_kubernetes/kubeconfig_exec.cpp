#include "kubeconfig_exec.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <davit/base64.hpp>

#include "exec_plugin.hpp"

namespace davit::cluster_kubernetes {
namespace {

namespace json = boost::json;
using yaml::child;
using yaml::Fault;
using yaml::in_quotes;
using yaml::text_of;

// Of what one plugin is configured with.
constexpr int depth_max = 32, values_max = 10'000;

// A plain scalar means what it looks like, as in every kubeconfig that is written in JSON.
json::value scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  const bool was_quoted = node.Tag() == "!";
  if (was_quoted) return json::value(text);
  if (text == "true" || text == "false") return text == "true";
  if (text.empty() || text == "null" || text == "~") return nullptr;
  if (text.find_first_not_of("0123456789+-.eE") == std::string::npos) {
    boost::system::error_code bad;
    auto number = json::parse(text, bad);
    if (!bad) return number;
  }
  return json::value(text);
}

// `left`: how many values it may still have, because an alias can stand for many.
json::value to_json(const YAML::Node& node, const std::string& where, int& left, int depth = 0) {
  if (depth > depth_max || --left < 0)
    throw Fault(where + ": the extension of the exec plugin is too large");
  if (!yaml::is_there(node)) return nullptr;
  if (node.IsScalar()) return scalar(node);
  if (node.IsSequence()) {
    json::array out;
    for (const auto& item : node) out.push_back(to_json(item, where, left, depth + 1));
    return out;
  }
  json::object out;
  for (const auto& entry : node)
    out[entry.first.as<std::string>()] = to_json(entry.second, where, left, depth + 1);
  return out;
}

// What the plugin is told of the cluster: spec.cluster of an ExecCredential.
json::object cluster_info(const YAML::Node& cluster, const Access& access,
                          const std::string& where) {
  json::object out{{"server", access.url}};
  if (!access.tls_server_name.empty()) out["tls-server-name"] = access.tls_server_name;
  if (access.insecure) out["insecure-skip-tls-verify"] = true;
  if (!access.ca.empty()) out["certificate-authority-data"] = base64(access.ca);
  if (!access.proxy.empty()) out["proxy-url"] = access.proxy;
  if (yaml::boolean_of(cluster, "disable-compression", where)) out["disable-compression"] = true;
  json::value config = nullptr;
  int left = values_max;
  for (const auto& extension : yaml::list_of(cluster, "extensions", where)) {
    if (text_of(extension, "name", where) == "client.authentication.k8s.io/exec")
      config = to_json(child(extension, "extension"), where, left);
  }
  out["config"] = std::move(config);
  return out;
}

// "Never" and "IfAvailable" are the same here: there is no terminal.
void check_mode(const YAML::Node& exec, const std::string& api_version, const std::string& where) {
  const std::string mode = text_of(exec, "interactiveMode", where);
  const bool needed = !api_version.ends_with("/v1beta1");
  if (mode == "Always") {
    throw Fault(where +
                ": interactiveMode is Always, and there is nobody to ask: use a login that "
                "needs no person, such as that of a service account");
  }
  if (mode == "IfAvailable" || mode == "Never" || (mode.empty() && !needed)) return;
  throw Fault(where + ": interactiveMode must be Never, IfAvailable or Always" +
              (mode.empty() ? "" : ", not " + in_quotes(mode)));
}

}  // namespace

ExecPlugin read_exec(const YAML::Node& exec, const std::string& user, const YAML::Node& cluster,
                     const Access& access, const std::string& directory) {
  const std::string where = user + ": exec";
  if (!exec.IsMap()) throw Fault(where + " must be a map");
  ExecPlugin out;
  out.api_version = text_of(exec, "apiVersion", where);
  if (!is_exec_version(out.api_version)) {
    throw Fault(where + ": apiVersion must be client.authentication.k8s.io/v1 or /v1beta1, not " +
                in_quotes(out.api_version));
  }
  out.command = text_of(exec, "command", where);
  if (out.command.empty()) throw Fault(where + ": command is missing");
  // As client-go: a name is looked for in $PATH, a path is one of the kubeconfig's folder.
  const bool is_path = out.command.find('/') != std::string::npos;
  if (is_path && out.command.front() != '/') out.command = directory + out.command;
  out.args = yaml::texts_of(exec, "args", where);
  for (const auto& entry : yaml::list_of(exec, "env", where)) {
    const std::string name = text_of(entry, "name", where);
    if (name.empty() || name.find('=') != std::string::npos)
      throw Fault(where + ": env has an entry without a name");
    out.env.emplace_back(name, text_of(entry, "value", where));
  }
  out.install_hint = one_line(text_of(exec, "installHint", where));
  check_mode(exec, out.api_version, where);
  json::object spec{{"interactive", false}};
  if (yaml::boolean_of(exec, "provideClusterInfo", where))
    spec["cluster"] = cluster_info(cluster, access, where);
  out.info = json::serialize(json::object{
      {"apiVersion", out.api_version}, {"kind", "ExecCredential"}, {"spec", std::move(spec)}});
  return out;
}

}  // namespace davit::cluster_kubernetes
