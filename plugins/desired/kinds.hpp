// The kinds of this process with their schemas, by name. All methods of the plugin share them.
#pragma once

#include <map>

#include <davit/kinds.hpp>

namespace davit::desired {

struct Kind {
  kind::Client client;
  Schema schema;
};

class Kinds {
 public:
  static Result<Kinds> find(const Host& host) {
    Kinds out;
    auto clients = kind::each_once(host);
    if (!clients.ok()) return clients.error();
    for (auto& client : *clients) {
      auto schema = client.schema(host);
      if (!schema.ok()) return schema.error().in("kind \"" + client.kind() + "\"");
      out.kinds_.emplace(client.kind(), Kind{client, *schema});
    }
    return out;
  }
  // NULL when the kind is not loaded.
  const Kind* get(std::string_view name) const {
    auto it = kinds_.find(name);
    return it == kinds_.end() ? nullptr : &it->second;
  }
  const std::map<std::string, Kind, std::less<>>& all() const { return kinds_; }
  // For messages: "cilium_network_policy, deployment".
  std::string names() const {
    std::string out;
    for (const auto& [name, kind] : kinds_) out += (out.empty() ? "" : ", ") + name;
    return out;
  }
  // True: the request names a kind, and it is not loaded.
  bool mistyped(std::string_view name) const { return !name.empty() && get(name) == nullptr; }
  // The error for a kind that is not loaded. An empty answer would look as if all were well.
  Error unknown(std::string_view name) const {
    return {Code::invalid_argument,
            "\"" + std::string(name) + "\" is not known to this server, which knows " + names(),
            "kind"};
  }

 private:
  std::map<std::string, Kind, std::less<>> kinds_;
};

}  // namespace davit::desired
