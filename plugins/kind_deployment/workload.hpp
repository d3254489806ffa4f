// What an ApplyDeployment message says, typed and checked. read_workload makes it and is the kind's
// validate. All code behind this type may rely on the rules that read_workload enforces.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/fwd.hpp>
#include <davit/kind.hpp>

#include "site.hpp"

namespace davit::deployment {

struct Healthcheck {
  bool post = false;
  std::string path;
  // 0: Kubernetes' own default.
  int64_t interval_seconds = 0, timeout_seconds = 0, failure_threshold = 0,
          initial_delay_seconds = 0;
};

struct Autoscaling {
  int64_t min_replicas = 0, max_replicas = 0;
  std::optional<int64_t> cpu_threshold, memory_threshold;  // per cent of the request
};

struct Workload {
  std::string ns, name;
  Controller controller = Controller::replica_set;
  std::string workspace_id, project_id, app_id, environment_id, deployment_id, build_id;
  std::string image;
  std::vector<std::string> command;
  int64_t replicas = 0;  // used when there is no autoscaling
  std::optional<Autoscaling> autoscaling;
  int64_t max_surge = 0;
  kubernetes::DisruptionBudget disruption_budget;  // empty: none
  int64_t cpu_millicores = 0, memory_mib = 0;
  int64_t port = 0;             // never 0: the site's default is filled in
  std::string shutdown_signal;  // empty, or SIG...
  std::optional<Healthcheck> healthcheck;
  std::string encrypted_env;  // the secrets blob in base64; empty: none
  // The variables that the blob has and their ciphertexts, by name, if it is a SecretsConfig.
  std::map<std::string, std::string> secrets;
  // Variables of Krane's later revision that the message has, in order: ("GIT_BRANCH", "main").
  std::vector<std::pair<std::string, std::string>> later_env;
  PodSettings pod;  // the site's, but for what the message says
  // What the message asks for and the kind does not do, for the status.
  std::vector<std::string> notes;
};

// `message` is as the codec shows it. INVALID_ARGUMENT with the field's path in `where`.
Result<Workload> read_workload(const boost::json::object& message, const Site& site);
Result<Workload> read_workload(std::string_view apply, const Site& site);

// The name of the Secret with the workload's secrets and of the ServiceAccount of its pods. It is
// Krane's.
std::string secret_name(std::string_view deployment_id);

// Reads only the names. All three must be present.
Result<Named> identify(std::string_view apply);

// Whether the message asks for zero replicas. False when that cannot be told.
bool wants_none(std::string_view apply, const Site& site);

}  // namespace davit::deployment
