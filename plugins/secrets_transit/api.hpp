// Api: requests to the HTTP API of a Vault: its address, the namespace, the token. Blocks; any
// thread.
#pragma once

#include "http/client.hpp"
#include "settings.hpp"

namespace davit::secrets_transit {

class Api {
 public:
  Api(Host host, const http::Target& target, std::string vault_namespace)
      : url_(target.url.text + "/v1/"),
        namespace_(std::move(vault_namespace)),
        client_(host, target.options) {}

  Result<> check() const { return client_.check(); }

  struct Call {
    std::string_view method = "POST";
    std::string path;               // behind /v1/
    const Secret* token = nullptr;  // NULL: none
    std::string_view body{};
    bool repeatable = true;  // to do it twice changes nothing
  };
  Result<http::Response> send(const Call& call, const Op& op) {
    const std::string url = url_ + call.path;
    http::Request request;
    request.method = call.method;
    request.url = url;
    request.headers = {{"X-Vault-Request", "true"}};
    if (!namespace_.empty()) request.headers.push_back({"X-Vault-Namespace", namespace_});
    if (call.token != nullptr) request.headers.push_back({"X-Vault-Token", call.token->view()});
    if (!call.body.empty()) request.headers.push_back({"Content-Type", "application/json"});
    request.body = call.body;
    request.repeatable = call.repeatable;
    return client_.send(request, op);
  }

 private:
  const std::string url_;
  const std::string namespace_;
  http::Client client_;
};

}  // namespace davit::secrets_transit
