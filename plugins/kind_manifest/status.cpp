#include "status.hpp"

#include <algorithm>
#include <map>

#include <boost/json/array.hpp>
#include <davit/utf8.hpp>

#include "kubernetes/plan.hpp"

namespace davit::manifest {
namespace json = boost::json;
namespace {

constexpr size_t named_max = 10;      // in the column
constexpr size_t explained_max = 50;  // in the detail
constexpr size_t why_max = 300;       // bytes

// The worst first, and objects of one state in their order.
std::vector<Judged> unhealthy_of(std::vector<Judged> judged) {
  std::erase_if(judged, [](const Judged& j) { return is_fine(j.health.state); });
  std::stable_sort(judged.begin(), judged.end(), [](const Judged& a, const Judged& b) {
    return a.health.state < b.health.state;
  });
  return judged;
}

json::object counts_of(const std::vector<Judged>& judged) {
  std::map<State, int64_t> counts;
  for (const Judged& j : judged) ++counts[j.health.state];
  json::object out;
  for (const auto& [state, count] : counts) out[word_of(state)] = count;
  return out;
}

json::object explained(const Judged& j) {
  return {{"object", j.what},
          {"state", word_of(j.health.state)},
          {"message", shortened(j.health.why, why_max)}};
}

// "Deployment/web: 1 of 3 replicas are available (and 4 more)".
std::string message_of(const std::vector<Judged>& unhealthy) {
  if (unhealthy.empty()) return {};
  const Judged& worst = unhealthy.front();
  std::string out = worst.what + ": " + std::string(shortened(worst.health.why, why_max));
  if (unhealthy.size() > 1) out += " (and " + std::to_string(unhealthy.size() - 1) + " more)";
  return out;
}

}  // namespace

json::object status_of(std::vector<Judged> judged, int64_t stale) {
  int64_t updated = 0, ready = 0;
  for (const Judged& j : judged) {
    const State s = j.health.state;
    if (s != State::missing && s != State::outdated && s != State::terminating) ++updated;
    if (is_fine(s)) ++ready;
  }
  const auto desired = static_cast<int64_t>(judged.size());
  json::object counts = counts_of(judged);
  const std::vector<Judged> unhealthy = unhealthy_of(std::move(judged));
  std::string message = message_of(unhealthy);
  if (stale > 0)
    kubernetes::add_reason(message, std::to_string(stale) + " objects are still to go");
  const bool failed = !unhealthy.empty() && unhealthy.front().health.state == State::failed;
  const bool all = unhealthy.empty() && stale == 0;
  json::array names, why;
  for (size_t i = 0; i < unhealthy.size() && i < explained_max; ++i) {
    if (i < named_max) names.emplace_back(unhealthy[i].what);
    why.push_back(explained(unhealthy[i]));
  }
  return {
      {"gone", false},
      {"health", failed ? "unhealthy"
                 : all  ? "healthy"
                        : "progressing"},
      {"desired", desired},
      {"updated", updated},
      {"ready", ready},
      {"stale", stale},
      {"message", message},
      {"detail",
       {{"objects", std::move(counts)}, {"unhealthy", std::move(names)}, {"why", std::move(why)}}},
      {"children", json::array{}}};
}

}  // namespace davit::manifest
