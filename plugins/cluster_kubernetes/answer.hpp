// From what came over HTTP to the response of the cluster role. Pure.
#pragma once

#include <davit/cluster.hpp>

namespace davit::cluster_kubernetes {

// How a transfer ended.
struct Outcome {
  // What became of it below HTTP: ok, timed_out, too_large, cancelled, or no answer at all.
  enum class Transport { ok, timed_out, too_large, cancelled, failed };
  Transport transport = Transport::ok;
  std::string error;  // for people, when not ok
  int http = 0;       // 0: there was no answer
  Pairs headers;      // lower-case names
  std::string body;
};

// Codes as abi/cluster.h says.
cluster::Response to_response(Outcome outcome);
Code code_of_http(int http, std::string_view reason);
// Of a Retry-After header in seconds; 0: not stated, or a date.
std::chrono::milliseconds retry_after(const Pairs& headers);

}  // namespace davit::cluster_kubernetes
