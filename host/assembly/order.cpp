#include "order.hpp"

#include <algorithm>

namespace davit::host {
namespace {

// Every vertex that is left waits for another one that is left, so following the edges must lead
// into a circle.
std::string circle(const std::vector<Vertex>& graph, const std::vector<bool>& done) {
  std::vector<size_t> path;
  size_t at = static_cast<size_t>(std::find(done.begin(), done.end(), false) - done.begin());
  auto seen = path.end();
  while ((seen = std::find(path.begin(), path.end(), at)) == path.end()) {
    path.push_back(at);
    for (size_t next : graph[at].uses) {
      if (!done[next]) {
        at = next;
        break;
      }
    }
  }
  std::string out;
  for (auto it = seen; it != path.end(); ++it) out += graph[*it].name + " -> ";
  return out + graph[at].name;
}

}  // namespace

Result<std::vector<size_t>> start_order(const std::vector<Vertex>& graph) {
  std::vector<size_t> order;
  std::vector<bool> done(graph.size(), false);
  const auto ready = [&](size_t i) {
    return !done[i] && std::all_of(graph[i].uses.begin(), graph[i].uses.end(),
                                   [&](size_t u) { return done[u]; });
  };
  while (order.size() < graph.size()) {
    size_t next = 0;
    while (next < graph.size() && !ready(next)) ++next;
    if (next == graph.size()) {
      return Error{Code::failed_precondition,
                   "plugins look each other up in a circle: " + circle(graph, done)};
    }
    done[next] = true;
    order.push_back(next);
  }
  return order;
}

}  // namespace davit::host
