#include "namespaces.hpp"

#include <memory>
#include <mutex>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>

namespace davit::kubernetes {

cluster::Request namespaces_request() {
  cluster::Request q;
  q.verb = namespaces_verb;
  return q;
}

std::vector<std::string> namespaces_of(const cluster::Response& answer) {
  boost::system::error_code bad;
  const auto value = boost::json::parse(answer.body, bad);
  if (answer.code != Code::ok || bad || !value.is_array()) return {};
  std::vector<std::string> out;
  for (const auto& name : value.get_array()) {
    if (name.is_string()) out.emplace_back(name.get_string());
  }
  return out;
}

std::vector<std::string> namespaces_of(const cluster::Client& cluster) {
  // Shared with the callback, which may come later and on another thread: then it says nothing.
  struct Answered {
    std::mutex mutex;
    std::optional<cluster::Response> answer;
  };
  const auto answered = std::make_shared<Answered>();
  cluster.request(namespaces_request(), [answered](cluster::Response r) {
    const std::lock_guard lock(answered->mutex);
    answered->answer = std::move(r);
  });
  const std::lock_guard lock(answered->mutex);
  return answered->answer ? namespaces_of(*answered->answer) : std::vector<std::string>();
}

std::vector<Right> in_namespaces(const std::vector<Right>& rights,
                                 const std::vector<std::string>& namespaces) {
  if (namespaces.empty()) return rights;
  std::vector<Right> out;
  for (const Right& right : rights) {
    // A namespace is read by a right within it. None is created.
    const bool of_namespace = right.name() == "namespaces" && right.verb == "get";
    const bool review = right.group == "authentication.k8s.io";
    if (review) out.push_back(right);
    if (review || (!right.namespaced && !of_namespace)) continue;
    for (const auto& ns : namespaces) {
      out.push_back(right);
      out.back().ns = ns;
    }
  }
  return out;
}

}  // namespace davit::kubernetes
