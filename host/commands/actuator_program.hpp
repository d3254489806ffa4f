// The protocol of programs that the plugin actuator_exec runs (sdk/schemas): one request on stdin,
// one answer on stdout.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include <davit/types.hpp>

namespace davit::host {

struct ActuatorRequest {
  bool remove = false;  // else reconcile
  std::string ns, name, uid;
  std::chrono::steady_clock::time_point deadline;
  boost::json::value cluster;

  // A text of the Cluster; empty: there is none, or no text.
  std::string text_at(const std::string& pointer) const;
};

struct ActuatorEvent {
  bool warning = false;
  std::string reason, message;
};

struct ActuatorAnswer {
  std::optional<Error> error;
  std::string error_reason;
  std::chrono::milliseconds requeue_after{0};  // 0: it is done
  std::string progress;
  std::vector<ActuatorEvent> events;

  bool is_done() const { return !error && requeue_after.count() == 0; }
  static ActuatorAnswer wait(std::chrono::milliseconds time, std::string progress);
  static ActuatorAnswer failed(Error error, std::string reason = {});
};

// INVALID_ARGUMENT: it is no request of this protocol.
Result<ActuatorRequest> read_actuator_request(const std::string& text);
std::string actuator_answer_text(const ActuatorAnswer& answer);

}  // namespace davit::host
