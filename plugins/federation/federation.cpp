// The plugin: it reads the settings, finds both clusters, and leaves the work to the Hub.
#include "hub.hpp"

namespace davit::federation {
namespace {

class Federation {
 public:
  using roles = Roles<>;

  explicit Federation(Host host)
      : host_(host), configuration_(read_configuration(Settings(host))) {}

  Result<> wire() {
    auto upstream = cluster::Client::find(host_, configuration_.upstream);
    if (!upstream.ok()) return upstream.error();
    auto downstream = cluster::Client::find(host_, configuration_.downstream);
    if (!downstream.ok()) return downstream.error();
    hub_ = std::make_shared<Hub>(host_, configuration_, *upstream, *downstream, outstanding_);
    return {};
  }

  Result<> start(const Op&) {
    hub_->start();
    return {};
  }

  Result<> stop(const Op& op) {
    hub_->stop();
    return outstanding_.wait(host_, op);
  }

 private:
  const Host host_;
  const Configuration configuration_;
  Outstanding outstanding_;
  std::shared_ptr<Hub> hub_;
};

}  // namespace
}  // namespace davit::federation

DAVIT_PLUGIN(davit::federation::Federation, "federation", DAVIT_PLUGIN_VERSION,
             "keeps objects of two clusters equal: the spec goes down, the status goes up")
