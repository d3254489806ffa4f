// The plugin: it reads the settings, finds both clusters, and leaves the work to the Hub.
#include <davit/offer.hpp>
#include <davit/rights.hpp>

#include "review.hpp"
#include "rights.hpp"
#include "service.hpp"

namespace davit::federation {
namespace {

class Federation {
 public:
  using roles = Roles<RightsRole, RehearsalRole>;

  explicit Federation(Host host)
      : host_(host), configuration_(read_configuration(Settings(host))) {}

  Result<> wire() {
    auto upstream = cluster::Client::find(host_, configuration_.upstream);
    if (!upstream.ok()) return upstream.error();
    auto downstream = cluster::Client::find(host_, configuration_.downstream);
    if (!downstream.ok()) return downstream.error();
    hub_ = std::make_shared<Hub>(host_, configuration_, *upstream, *downstream, outstanding_);
    review_ =
        std::make_unique<Review>(host_, configuration_, *upstream, *downstream, hub_, outstanding_);
    return serve(host_, hub_);
  }

  std::string rights() const { return roles_of(configuration_); }

  // --- davit federation check ---
  void rehearse() { hub_->rehearse(); }
  Result<std::string> review(const Op& op) { return review_->run(op); }

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
  std::unique_ptr<Review> review_;
};

}  // namespace
}  // namespace davit::federation

DAVIT_PLUGIN(davit::federation::Federation, "federation", DAVIT_PLUGIN_VERSION,
             "keeps objects of two clusters equal: the spec goes down, the status goes up")
