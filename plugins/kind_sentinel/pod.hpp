// One pod of a sentinel as the cluster shows it.
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
  std::string trouble;   // why it cannot become ready; empty: nothing is known to be wrong
  bool failing = false;  // `trouble` will not pass by waiting
  bool terminating = false;
  int64_t cpu_millicores = 0, memory_mib = 0;

  bool active() const { return !terminating && status != "failed" && status != "done"; }
};

// What of a pod `read_pod` reads: JSON pointers for the watch.
std::vector<std::string> kept_of_pods();
Pod read_pod(const boost::json::value& object);

// Of any object: whether it has a condition of that type with that status, and what the condition
// says, cut to a readable length.
bool says(const boost::json::value& object, std::string_view type, std::string_view status);
std::string saying(const boost::json::value& object, std::string_view type);

}  // namespace davit::sentinel
