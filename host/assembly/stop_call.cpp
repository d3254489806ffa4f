#include "stop_call.hpp"

#include <future>
#include <memory>
#include <thread>

#include "instance.hpp"
#include "runtime/step.hpp"

namespace davit::host {

std::optional<Result<>> stop_within(Instance& instance,
                                    std::chrono::steady_clock::time_point deadline) {
  constexpr std::chrono::seconds grace{1};  // from the cancellation to giving up
  struct Call {
    explicit Call(std::chrono::steady_clock::time_point d) : op(operation_until(d)) {}
    Operation op;
    std::promise<Result<>> done;
  };
  auto call = std::make_shared<Call>(deadline);
  std::future<Result<>> done = call->done.get_future();
  std::thread thread([call, &instance] {
    const Step step(Step::Kind::life, party(instance.name()), "stop");
    call->done.set_value(instance.stop(call->op));
  });
  if (done.wait_until(deadline) != std::future_status::ready) {
    call->op.cancel();
    if (done.wait_for(grace) != std::future_status::ready) {
      thread.detach();  // the process ends with _exit, without joining
      return std::nullopt;
    }
  }
  thread.join();
  return done.get();
}

}  // namespace davit::host
