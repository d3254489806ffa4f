// Runs kubectl for a command that works on the cluster of a Cluster resource.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <davit/types.hpp>

namespace davit::host {

class Kubectl {
 public:
  // `kubeconfig` is the path of one, or its content: several lines, or JSON. A content comes from a
  // Cluster's status, so it may neither run programs nor name files of this machine.
  // FAILED_PRECONDITION: it is none that names a cluster; kubectl would ask another one then.
  static Result<Kubectl> open(std::string program, const std::string& kubeconfig,
                              std::chrono::steady_clock::time_point deadline);

  // What it prints. UNAVAILABLE: the cluster cannot be reached, or does not answer;
  // PERMISSION_DENIED, UNAUTHENTICATED: it refuses; NOT_FOUND; FAILED_PRECONDITION: all else.
  Result<std::string> run(const std::vector<std::string>& words,
                          const std::string& input = {}) const;

 private:
  Kubectl() = default;

  std::string program_, kubeconfig_, content_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace davit::host
