#include "installation_options.hpp"

#include <charconv>

namespace davit::host {

void InstallationOptions::add_options(Command& command) {
  const AgentInstallation usual;
  command.option("--name", "NAME", name, "of the agent's objects; " + usual.name + " when absent");
  command.option("--namespace", "NAMESPACE", ns,
                 "of the agent alone; " + usual.ns + " when absent");
  command.option("--image", "IMAGE", image, "that has davit; " + usual.image + " when absent");
  command.option("--url", "URL", url, "of the server that the agent dials; else as configured");
  command.option("--metrics-port", "PORT", metrics_port,
                 "where the pod has metrics and answers its probes, 0: nowhere; " +
                     std::to_string(usual.metrics_port) + " when absent");
}

AgentInstallation InstallationOptions::read() const {
  AgentInstallation out;
  if (!name.empty()) out.name = name;
  if (!ns.empty()) out.ns = ns;
  if (!image.empty()) out.image = image;
  out.url = url;
  constexpr int64_t port_max = 65'535;
  out.metrics_port = static_cast<int>(
      number_option("--metrics-port", metrics_port, out.metrics_port, 0, port_max));
  return out;
}

int64_t number_option(const std::string& option, const std::string& text, int64_t usual,
                      int64_t least, int64_t most) {
  if (text.empty()) return usual;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    throw UsageError(option + " must be a number from " + std::to_string(least) + " to " +
                     std::to_string(most) + ", not \"" + text + "\"");
  }
  return value;
}

}  // namespace davit::host
