#include "watch_wire.hpp"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/proto_buffer_writer.h>

#include <charconv>
#include <stdexcept>

#include "ctrl/v1/cluster.pb.h"
#include "davit/v1/agent.pb.h"
#include "davit/v1/operator.pb.h"
#include "etcd.pb.h"

namespace davit::bench {
namespace {

constexpr size_t record_bytes = 1024;

grpc::ByteBuffer bytes(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

template <class Message>
bool parse(const grpc::ByteBuffer& buffer, Message& message) {
  grpc::ByteBuffer copy = buffer;
  grpc::ProtoBufferReader reader(&copy);
  return message.ParseFromZeroCopyStream(&reader);
}

uint64_t number_of(std::string_view text) {
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::string spec(uint64_t key, uint64_t number) {
  const std::string id = std::to_string(key);
  std::string json =
      R"({"k8s_namespace":"bench","k8s_name":"b)" + id +
      R"(","workspace_id":"ws_1","project_id":"proj_1","environment_id":"env_1","deployment_id":"d)" +
      id + R"(","image":")" + std::to_string(number) +
      R"(","replicas":1,"cpu_millicores":"100","memory_mib":"64","port":8080,"git_commit_message":")";
  json.append(record_bytes - json.size(), 'x');
  return json + "\"}";
}

class Davit : public WatchWire {
 public:
  std::string watch_path() const override { return "/davit.v1.AgentService/Watch"; }
  grpc::ByteBuffer watch_request(const std::string&, Place from) const override {
    v1::WatchRequest request;
    auto* subscription = request.add_subscriptions();
    subscription->set_kind("deployment");
    subscription->mutable_cursor()->set_incarnation(from.incarnation);
    subscription->mutable_cursor()->set_version(from.version);
    request.set_agent("bench");
    return bytes(request);
  }
  bool read(const grpc::ByteBuffer& message, Place& place,
            const std::function<void(uint64_t)>& arrived) const override {
    v1::Frame frame;
    if (!parse(message, frame)) return false;
    ::ctrl::v1::ApplyDeployment apply;
    for (const auto& record : frame.records()) {
      place.version = record.version();
      if (record.has_apply() && apply.ParseFromString(record.apply()))
        arrived(number_of(apply.image()));
    }
    // A snapshot's first bookmark is its end, not where the peer stands.
    if (frame.has_bookmark() && frame.bookmark().type() != v1::Bookmark::TYPE_BEGIN_SNAPSHOT)
      place = {frame.bookmark().at().incarnation(), frame.bookmark().at().version()};
    return true;
  }
  std::string write_path() const override { return "/davit.v1.OperatorService/Apply"; }
  grpc::ByteBuffer write_request(const std::string& region, uint64_t number, uint64_t count,
                                 uint64_t keys) const override {
    v1::ApplyRequest request;
    for (uint64_t n = number; n < number + count; ++n) {
      auto* document = request.add_documents();
      document->set_kind("deployment");
      document->set_region(region);
      document->set_spec_json(spec(n % keys, n));
    }
    return bytes(request);
  }
  std::string write_fault(const grpc::ByteBuffer& answer) const override {
    v1::ApplyResponse response;
    if (!parse(answer, response)) return "the answer cannot be read";
    for (const auto& outcome : response.outcomes()) {
      if (outcome.code() != 0) return outcome.message();
    }
    return {};
  }
};

class Ctrl : public Davit {
 public:
  std::string watch_path() const override { return "/ctrl.v1.ClusterService/WatchDeployments"; }
  grpc::ByteBuffer watch_request(const std::string& region, Place from) const override {
    ::ctrl::v1::WatchDeploymentsRequest request;
    request.set_region(region);
    request.set_version_last_seen(from.version);
    return bytes(request);
  }
  bool read(const grpc::ByteBuffer& message, Place& place,
            const std::function<void(uint64_t)>& arrived) const override {
    ::ctrl::v1::DeploymentState state;
    if (!parse(message, state)) return false;
    place.version = state.version();
    if (state.has_apply()) arrived(number_of(state.apply().image()));
    return true;
  }
};

class Etcd : public WatchWire {
 public:
  std::string watch_path() const override { return "/etcdserverpb.Watch/Watch"; }
  grpc::ByteBuffer watch_request(const std::string& region, Place from) const override {
    etcdserverpb::WatchRequest request;
    auto* create = request.mutable_create_request();
    create->set_key(region + "/");
    create->set_range_end(region + "0");  // the character after the slash: the whole prefix
    if (from.version != 0) create->set_start_revision(static_cast<int64_t>(from.version) + 1);
    return bytes(request);
  }
  bool keeps_writing() const override { return true; }
  bool read(const grpc::ByteBuffer& message, Place& place,
            const std::function<void(uint64_t)>& arrived) const override {
    etcdserverpb::WatchResponse response;
    if (!parse(message, response) || response.canceled()) return false;
    for (const auto& event : response.events()) {
      place.version = static_cast<uint64_t>(event.kv().mod_revision());
      arrived(number_of(event.kv().value()));
    }
    return true;
  }
  std::string write_path() const override { return "/etcdserverpb.KV/Put"; }
  grpc::ByteBuffer write_request(const std::string& region, uint64_t number, uint64_t count,
                                 uint64_t keys) const override {
    if (count != 1) throw std::runtime_error("etcd takes one change at a time");
    etcdserverpb::PutRequest request;
    request.set_key(region + "/" + std::to_string(number % keys));
    request.set_value(std::to_string(number) + " " + std::string(record_bytes, 'x'));
    return bytes(request);
  }
  std::string write_fault(const grpc::ByteBuffer&) const override { return {}; }
};

// The least that a server stream can be: one request, one message, and silence.
class Bare : public Davit {
 public:
  std::string watch_path() const override { return "/bench.Floor/Watch"; }
  bool read(const grpc::ByteBuffer&, Place&, const std::function<void(uint64_t)>&) const override {
    return true;
  }
};

}  // namespace

std::string region_name(size_t index) {
  return "r-" + std::to_string(index);
}

std::unique_ptr<WatchWire> watch_wire(const std::string& name) {
  if (name == "davit.v1") return std::make_unique<Davit>();
  if (name == "ctrl.v1") return std::make_unique<Ctrl>();
  if (name == "etcd") return std::make_unique<Etcd>();
  if (name == "bare") return std::make_unique<Bare>();
  throw std::runtime_error("no wire is called " + name);
}

}  // namespace davit::bench
