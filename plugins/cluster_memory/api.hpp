// The verbs of the Kubernetes API over a Store: reads, the five kinds of write, and refusals with
// the Status bodies, codes and messages of an API server. Pure, like the Store.
#pragma once

#include <davit/cluster.hpp>

#include "resources.hpp"
#include "store.hpp"

namespace davit::cluster_memory {

// Why the API server refuses a request.
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
  // Creates the namespaces that every cluster has.
  Api(Store& store, int64_t now_ms);

  cluster::Response handle(const cluster::Request& request, int64_t now_ms);
  cluster::Response discover(const std::string& group, const std::string& version,
                             const std::string& kind) const;
  // Returns the uid of the namespace kube-system.
  cluster::Response identity() const;

  // The type of a resource.
  ResourceType type(const cluster::Resource& resource) const;

 private:
  // One request: what it addresses, and the object found there.
  struct Call {
    const cluster::Request& request;
    ResourceType type;
    Key key;
    int64_t now_ms;
    Object live;  // NULL: the object does not exist
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
  // Checks and stores the object that a write has produced. With `live` NULL it becomes a new
  // object.
  cluster::Response commit(Call& call, boost::json::object object);

  std::optional<Refusal> address(Call& call) const;
  std::optional<Refusal> check_body(Call& call, boost::json::object& object) const;
  std::optional<Refusal> check_new(const Call& call) const;
  std::optional<Refusal> check_object(const Call& call, const boost::json::object& object) const;
  // Checks that the written object names the existing one, at its present uid and resourceVersion.
  static std::optional<Refusal> check_state(const Call& call, const boost::json::object& object);

  Store& store_;
  Resources resources_;
};

cluster::Response answer(int http, std::string body);
cluster::Response refuse(const Refusal& refusal, const ResourceType& type, std::string_view name);
// `cause` has the form of Kubernetes: "spec.replicas: Invalid value: -1: must be ...".
Refusal invalid(const ResourceType& type, std::string_view name, const std::string& cause);
std::string query_value(const cluster::Request& request, std::string_view key);
// For example "replicasets.apps".
std::string qualified_resource(const ResourceType& type);

}  // namespace davit::cluster_memory
