// One pod of a sentinel as the cluster shows it. Reconcile reports it as a child and derives the
// trouble from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/fwd.hpp>

namespace davit::sentinel {

struct Pod {
  std::string name, ip;
  std::string status;    // pending, running or inactive; "failed" and "done" are no children
  std::string trouble;   // why it cannot become ready; empty: nothing is known
  bool failing = false;  // waiting does not end `trouble`
  bool terminating = false;
  int64_t cpu_millicores = 0, memory_mib = 0;

  bool active() const { return !terminating && status != "failed" && status != "done"; }
};

// The JSON pointers of what `read_pod` reads, for the watch.
std::vector<std::string> kept_of_pods();
Pod read_pod(const boost::json::value& object);

// For an object of any kind: whether it has a condition of this type with this status, and what the
// condition says, cut to a readable length.
bool says(const boost::json::value& object, std::string_view type, std::string_view status);
std::string saying(const boost::json::value& object, std::string_view type);

}  // namespace davit::sentinel
