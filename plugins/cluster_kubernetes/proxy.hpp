// Which proxy stands between us and an API server: that of the kubeconfig, or that which the
// environment names as Go's programs understand it (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). Pure.
#pragma once

#include "access.hpp"

namespace davit::cluster_kubernetes {

// Why this is no URL of a proxy, as the rest of a sentence; nothing: it is one, or empty. It does
// not show the URL, which may have a password.
std::optional<std::string> proxy_fault(const std::string& url);

// The URL of the proxy for libcurl; empty: none. `url` is the API server's.
std::string proxy_for(const std::string& proxy_url, const std::string& url,
                      const Environment& environment);

}  // namespace davit::cluster_kubernetes
