// The plugin: it reads the settings, finds the cluster, the actuators and the gate, and leaves the
// work to the Controller.
#include <davit/gate.hpp>
#include <davit/offer.hpp>
#include <davit/rights.hpp>

#include "controller.hpp"
#include "definition.hpp"
#include "rights.hpp"

namespace davit::clusters {
namespace {

class ClusterController {
 public:
  using roles = Roles<RightsRole, InstallationRole>;

  explicit ClusterController(Host host)
      : host_(host),
        configuration_(read_configuration(Settings(host))),
        gate_name_(Settings(host).optional_string("gate")) {}

  Result<> wire() {
    auto cluster = cluster::Client::find(host_, configuration_.cluster);
    if (!cluster.ok()) return cluster.error();
    std::vector<Actuator> providers, addons;
    for (const Provider& p : configuration_.providers) {
      if (auto found = find(p.instance, providers); !found.ok()) return found;
    }
    for (const std::string& instance : configuration_.addons) {
      if (auto found = find(instance, addons); !found.ok()) return found;
    }
    auto gate = gate::Client::find(host_, gate_name_);
    if (!gate.ok()) return gate.error();
    gate_ = *gate;
    cluster_ = *cluster;
    controller_ = std::make_shared<Controller>(
        host_, configuration_, *cluster, std::move(providers), std::move(addons), outstanding_);
    return {};
  }

  std::string rights() const {
    return kubernetes::cluster_role("davit-clusters", rights_of(configuration_));
  }

  // --- davit clusters install ---
  void hold() { held_ = true; }
  Result<std::string> install(const Op& op) { return install_definition(host_, cluster_, op); }

  Result<> start(const Op&) {
    if (held_) return {};
    if (!gate_) {
      controller_->start();
      return {};
    }
    host_.info("stands by until the gate opens", {{"gate", gate_->name()}});
    gate_->wait([controller = controller_](Epoch epoch) {
      if (epoch.value() != 0) controller->start();
    });
    return {};
  }

  Result<> stop(const Op& op) {
    controller_->stop();
    return outstanding_.wait(host_, op);
  }

 private:
  Result<> find(const std::string& instance, std::vector<Actuator>& into) {
    auto client = actuator::Client::find(host_, instance);
    if (!client.ok()) return client.error();
    into.push_back({instance, *client});
    return {};
  }

  const Host host_;
  const Configuration configuration_;
  const std::optional<std::string> gate_name_;
  Outstanding outstanding_;
  std::optional<gate::Client> gate_;
  cluster::Client cluster_;
  bool held_ = false;  // only asked to install
  std::shared_ptr<Controller> controller_;
};

}  // namespace
}  // namespace davit::clusters

DAVIT_PLUGIN(davit::clusters::ClusterController, "cluster_controller", DAVIT_PLUGIN_VERSION,
             "builds and removes Kubernetes clusters that are Cluster resources, by actuators")
