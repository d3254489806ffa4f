// What an API server has answered, for people.
#pragma once

#include <string>

#include <davit/cluster.hpp>

namespace davit::kubernetes {

// "404: robots.example.com \"a\" not found", or "no answer: connection refused".
inline std::string answer_text(const cluster::Response& r) {
  const std::string http = r.http_status == 0 ? "no answer" : std::to_string(r.http_status);
  return http + (r.message.empty() ? "" : ": " + r.message);
}

}  // namespace davit::kubernetes
