// Translates an HTTP answer into a response of the cluster role. Pure.
#pragma once

#include <davit/cluster.hpp>

namespace davit::cluster_kubernetes {

// How a transfer has ended.
struct Outcome {
  // The result below HTTP: ok, timed_out, too_large, cancelled, no_credentials if it was not sent
  // for lack of them, or failed if there was no answer.
  enum class Transport { ok, timed_out, too_large, cancelled, no_credentials, failed };
  Transport transport = Transport::ok;
  std::string error;  // for people, when not ok
  int http = 0;       // 0: there was no answer
  Pairs headers;      // lower-case names
  std::string body;
};

// The codes are those of abi/cluster.h.
cluster::Response to_response(Outcome outcome);
// Reads a Status body. A body of another kind changes nothing.
void read_status(const std::string& body, cluster::Response& out);
// True if an API server sent this answer, or passed it on: it puts its id of the request on each.
// Something in between that answers in its place, such as an ingress without a route, does not.
bool is_of_api_server(const Outcome& outcome);
Code code_of_http(int http, std::string_view reason);
// Reads a Retry-After header in seconds. 0: the header is missing, or contains a date.
std::chrono::milliseconds retry_after(const Pairs& headers);

}  // namespace davit::cluster_kubernetes
