// Answer: how the cluster answered one request of a reconciliation. Workers learn from it how many
// requests the API server can take.
#pragma once

#include <chrono>
#include <string>

namespace davit::applier {

struct Answer {
  std::string like;  // verb and resource
  std::chrono::nanoseconds sent{0}, took{0};
  bool overloaded = false;
  bool of_webhook = false;  // the answer names a webhook
  std::chrono::milliseconds retry_after{0};
};

}  // namespace davit::applier
