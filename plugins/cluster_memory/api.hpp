// The verbs of the Kubernetes API over a Store: reads, the five kinds of write, and their refusals
// with the Status bodies, codes and messages an API server gives. Pure, like the Store.
#pragma once

#include <davit/cluster.hpp>

#include "resources.hpp"
#include "store.hpp"

namespace davit::cluster_memory {

// Why the API server says no.
struct Refusal {
  struct Cause {
    std::string reason, message, field;
  };
  int http;
  std::string reason;
  std::string message;
  std::vector<Cause> causes = {};
};

class Api {
 public:
  // Makes the namespaces every cluster has.
  Api(Store& store, int64_t now_ms);

  cluster::Response handle(const cluster::Request& request, int64_t now_ms);
  cluster::Response discover(const std::string& group, const std::string& version,
                             const std::string& kind) const;
  // The uid of kube-system.
  cluster::Response identity() const;

  // For a watch: the objects it starts with.
  ResourceType type(const cluster::Resource& resource) const;

 private:
  // One request on its way: what it is about and what it found.
  struct Call {
    const cluster::Request& request;
    ResourceType type;
    Key key;
    int64_t now_ms;
    Object live;  // NULL: not there
    bool dry = false;
    std::string manager;
  };

  cluster::Response read(Call& call) const;
  cluster::Response list(const Call& call) const;
  cluster::Response write(Call& call);
  cluster::Response remove(Call& call);

  cluster::Response create(Call& call, boost::json::object object);
  cluster::Response apply(Call& call, boost::json::object applied);
  cluster::Response merge(Call& call, const boost::json::object& patch);
  cluster::Response update(Call& call, boost::json::object object);
  // Checks and stores what a write made of an object; `live` NULL makes a new one.
  cluster::Response commit(Call& call, boost::json::object object);

  std::optional<Refusal> address(Call& call) const;
  std::optional<Refusal> check_body(Call& call, boost::json::object& object) const;
  std::optional<Refusal> check_new(const Call& call) const;
  std::optional<Refusal> check_object(const Call& call, const boost::json::object& object) const;
  // Whether the object that is written names the one that is there, in the state that it is in.
  static std::optional<Refusal> check_state(const Call& call, const boost::json::object& object);

  Store& store_;
  Resources resources_;
};

cluster::Response answer(int http, std::string body);
cluster::Response refuse(const Refusal& refusal, const ResourceType& type, std::string_view name);
// `cause` as Kubernetes writes it: "spec.replicas: Invalid value: -1: must be ...".
Refusal invalid(const ResourceType& type, std::string_view name, const std::string& cause);
std::string query_value(const cluster::Request& request, std::string_view key);
// "replicasets.apps"
std::string qualified_resource(const ResourceType& type);

}  // namespace davit::cluster_memory
