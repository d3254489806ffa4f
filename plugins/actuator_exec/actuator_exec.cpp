// The plugin: it reads its settings, and leaves the calls to a Queue and a Runner.
#include "davit/plugin.hpp"
#include "queue.hpp"

namespace davit::actuator_exec {
namespace {

class ActuatorExec {
 public:
  using roles = Roles<actuator::Role>;

  explicit ActuatorExec(Host host)
      : host_(host),
        runner_(host, ExecSettings::read(host)),
        queue_(std::make_shared<Queue>(host, runner_)) {}

  Result<> check(const Op&) { return runner_.check(); }
  Result<> start(const Op&) {
    if (auto started = runner_.start(); !started.ok()) return started;
    queue_->start();
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  Result<> stop(const Op& op) { return queue_->stop(op); }

  void reconcile(const Op& op, actuator::Call call, actuator::Done done) {
    queue_->call(op, Operation::reconcile, std::move(call), std::move(done));
  }
  void remove(const Op& op, actuator::Call call, actuator::Done done) {
    queue_->call(op, Operation::remove, std::move(call), std::move(done));
  }

 private:
  const Host host_;
  Runner runner_;
  const std::shared_ptr<Queue> queue_;
};

}  // namespace
}  // namespace davit::actuator_exec

DAVIT_PLUGIN(davit::actuator_exec::ActuatorExec, "actuator_exec", DAVIT_PLUGIN_VERSION,
             "builds clusters by running a program for each call")
