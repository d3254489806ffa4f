#include "load.hpp"

#include "ctrl/v1/cluster.pb.h"

namespace davit::torture {
namespace {

std::string deployment_spec(const std::string& id, const std::string& name,
                            const std::string& content, size_t filler) {
  return R"({"k8s_namespace":"shop","k8s_name":")" + name +
         R"(","workspace_id":"ws_1","project_id":"proj_1","environment_id":"env_1","deployment_id":")" +
         id + R"(","image":")" + content +
         R"(","replicas":1,"cpu_millicores":"100","memory_mib":"64","port":8080,"git_commit_message":")" +
         std::string(filler, 'x') + "\"}";
}
std::string deployment_content(const std::string& payload) {
  ctrl::v1::ApplyDeployment message;
  return message.ParseFromString(payload) ? message.image() : "undecodable";
}

std::string policy_spec(const std::string& id, const std::string& name, const std::string& content,
                        size_t) {
  return R"({"k8s_namespace":"shop","k8s_name":")" + name + R"(","cilium_network_policy_id":")" +
         id + R"(","policy":{"apiVersion":"cilium.io/v2","kind":"CiliumNetworkPolicy","spec":)" +
         R"({"endpointSelector":{"matchLabels":{"app":")" + content + "\"}}}}}";
}
std::string policy_content(const std::string& payload) {
  ctrl::v1::ApplyCiliumNetworkPolicy message;
  if (!message.ParseFromString(payload)) return "undecodable";
  constexpr std::string_view before = "\"app\":\"";
  const std::string& json = message.policy();
  const size_t at = json.find(before);
  if (at == std::string::npos) return "no label in " + json;
  const size_t begin = at + before.size();
  return json.substr(begin, json.find('"', begin) - begin);
}

}  // namespace

const std::array<Kind, 2>& kinds() {
  static const std::array<Kind, 2> all{{{"deployment", deployment_spec, deployment_content},
                                        {"cilium_network_policy", policy_spec, policy_content}}};
  return all;
}

std::string content_of(const std::string& kind, const std::string& payload) {
  for (const auto& k : kinds()) {
    if (k.name == kind) return k.content(payload);
  }
  return "of an unknown kind";
}

void Course::fault(Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

std::vector<Fault> Course::faults() const {
  const std::lock_guard lock(mutex_);
  return faults_;
}

std::shared_ptr<grpc::Channel> connect(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  // So long an attempt may take: on a busy machine the server's first frame can.
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5'000);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 300);
  return bench::connect(target, arguments);
}

Doors::Doors(const std::vector<std::string>& targets, unsigned seed) : random_(seed) {
  for (const std::string& target : targets) channels_.push_back(connect(target));
}

void wait_for_connection(grpc::Channel& channel) {
  channel.WaitForConnected(in(std::chrono::seconds(1)));
}

bench::Deadline in(std::chrono::milliseconds time) {
  return std::chrono::system_clock::now() + time;
}

}  // namespace davit::torture
