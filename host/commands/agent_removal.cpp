#include "agent_removal.hpp"

#include <vector>

#include "agent_manifests.hpp"

namespace davit::host {
namespace {

using Words = std::vector<std::string>;

// In this order: the account keeps its rights while the agent ends.
std::vector<Words> deletes_after_its_end(const std::string& name, const std::string& ns) {
  const std::string selector = agent_selector(name);
  return {{"delete", "clusterrolebindings,clusterroles", "--selector", selector},
          {"delete", "rolebindings,roles", "--all-namespaces", "--selector", selector},
          {"delete", "namespace", ns}};
}

}  // namespace

Result<std::string> end_agent(const Kubectl& kubectl, const std::string& name,
                              const std::string& ns) {
  const auto deleted = kubectl.run({"delete", "deployments.apps", name, "--namespace", ns,
                                    "--ignore-not-found", "--wait=false"});
  if (!deleted.ok()) return deleted;
  return kubectl.run({"get", "pods", "--namespace", ns, "--selector", agent_selector(name),
                      "--ignore-not-found", "--output=name"});
}

Result<> remove_agent_objects(const Kubectl& kubectl, const std::string& name,
                              const std::string& ns) {
  for (Words words : deletes_after_its_end(name, ns)) {
    words.insert(words.end(), {"--ignore-not-found", "--wait=false"});
    if (auto r = kubectl.run(words); !r.ok()) return r.error();
  }
  return {};
}

std::string agent_removal_commands(const std::string& name, const std::string& ns) {
  std::string out = "kubectl delete deployments.apps " + name + " --namespace " + ns +
                    " --ignore-not-found --cascade=foreground\n";
  for (const Words& words : deletes_after_its_end(name, ns)) {
    out += "kubectl";
    for (const std::string& word : words) out += " " + word;
    out += " --ignore-not-found\n";
  }
  return out;
}

}  // namespace davit::host
