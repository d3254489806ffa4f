// The address of an API server, as a kubeconfig or the setting `server` has it. Pure.
#pragma once

#include <algorithm>
#include <string>

namespace davit::cluster_kubernetes {

// Without slashes at its end, so that paths can follow it.
inline std::string server_url(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  return text;
}

// Whether requests can be sent there.
inline bool is_server_url(const std::string& url) {
  const bool https = url.starts_with("https://") && url.size() > 8;
  const bool http = url.starts_with("http://") && url.size() > 7;
  const bool odd =
      std::any_of(url.begin(), url.end(), [](char c) { return c <= ' ' || c == '?' || c == '#'; });
  return (https || http) && !odd;
}

}  // namespace davit::cluster_kubernetes
