// One pod of a workload as the cluster shows it. Kinds count pods, report them as children and say
// what is wrong with them. Readiness follows the later revision of Krane: a container that is not
// ready is pending, not failed, and dead and terminating pods are no instances.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

namespace davit::kubernetes {

struct Pod {
  std::string name, ns;
  std::string ip;          // empty: none yet
  std::string hash;        // of the template it was made from; empty: not made by us
  std::string controller;  // of several that it may have; empty: its workload has but one
  std::string status;      // pending, running or inactive; "failed" and "done" are no instances
  std::string trouble;     // why it cannot become ready; empty: nothing is known
  bool failing = false;    // waiting does not end `trouble`
  bool terminating = false;
  bool controlled = false;  // by another object; known only if the watch keeps the owners
  int64_t cpu_millicores = 0, memory_mib = 0;
  // Unix milliseconds by the cluster's clocks; 0: unknown.
  int64_t created_ms = 0;
  int64_t ready_since_ms = 0;
  int64_t ends_ms = 0;  // of a terminating pod: the end of its grace period
  // The kept fields of its containers; points into what was read. NULL: none.
  const boost::json::array* containers = nullptr;
  // Made of another template than the wanted one. Only a kind that replaces pods itself sets it.
  bool stale = false;

  bool active() const { return !terminating && status != "failed" && status != "done"; }
  bool ready() const { return active() && status == "running"; }
};

// The JSON pointers of what read_pod reads, for the watch: without `hash`, `containers` and the
// times, which stay empty then; or all, for a kind that replaces pods itself.
std::vector<std::string> kept_of_pods();
std::vector<std::string> kept_of_replaced_pods();
// More of them, for a kind that looks whether something controls its pods.
constexpr const char* kept_of_controlled_pods = "/metadata/ownerReferences/*/controller";

bool is_pod(const boost::json::value& object);
// `object` must outlive the result.
Pod read_pod(const boost::json::value& object);
void sort_by_name(std::vector<Pod>&);

// What is wrong, for people.
struct Trouble {
  std::string text;      // empty: nothing is known
  bool failing = false;  // waiting does not end it
};
// Adds the trouble of the worst pod: "pod web-a: ImagePullBackOff (and 2 more)".
void add_worst_pod(Trouble& to, const std::vector<Pod>&);

// "10.1.2.3:8080", or "[fd00::1]:8080".
std::string address_by_ip(const Pod&, int64_t port);
// The children of a status: the pods that are active and have an address.
boost::json::array children_of(const std::vector<Pod>&,
                               const std::function<std::string(const Pod&)>& address);

}  // namespace davit::kubernetes
