#include "health_check.hpp"

#include <davit_health_descriptors.h>

#include <optional>
#include <unordered_set>

#include <davit/utf8.hpp>

#include "codec/schema.hpp"
#include "services/health.hpp"

namespace davit::host {

namespace {

namespace pb = google::protobuf;

// grpc.health.v1.HealthCheckResponse.ServingStatus
enum Status : int { serving = 1, not_serving = 2, service_unknown = 3 };

constexpr std::string_view service = "grpc.health.v1.Health";
constexpr std::string_view request_type = "grpc.health.v1.HealthCheckRequest";
constexpr std::string_view response_type = "grpc.health.v1.HealthCheckResponse";
constexpr uint32_t request_bytes_max = 4'096;  // a service name; the caller is unknown

rpc::Method method(std::string_view name) {
  rpc::Method m;
  m.path = std::string(service) + "/" + std::string(name);
  m.request_type = request_type;
  m.response_type = response_type;
  m.descriptor_set = davit_health_descriptors();
  m.request_bytes_max = request_bytes_max;
  return m;
}

std::string trimmed(const std::string& name) {
  constexpr size_t shown = 200;
  return shortened(name, shown);
}

}  // namespace

// What all watches share. Used on `strand`, except for members that never change.
struct HealthCheck::Watches {
  Strand strand;
  const Health& health;
  const MethodRegistry& methods;
  std::unique_ptr<davit_schema> schema;
  std::unordered_set<Watch*> open;

  Status of(const std::string& name) const {
    if (!name.empty() && !methods.serves(name)) return service_unknown;
    return health.worst().ready() ? serving : not_serving;
  }
  Result<std::string> service_of(std::string_view request) const {
    pb::Arena arena;
    const auto message = read_message(*schema, request_type, request, arena);
    if (!message.ok()) return message.error();
    const pb::Descriptor* type = (*message)->GetDescriptor();
    return (*message)->GetReflection()->GetString(**message, type->FindFieldByName("service"));
  }
  std::string answer(Status status) const {
    pb::Arena arena;
    pb::Message* message = *new_message(*schema, response_type, arena);
    const pb::Descriptor* type = message->GetDescriptor();
    message->GetReflection()->SetEnumValue(message, type->FindFieldByName("status"), status);
    return message->SerializeAsString();
  }
};

class HealthCheck::Watch final : public rpc::Handler {
 public:
  Watch(rpc::Call call, std::shared_ptr<Watches> watches)
      : call_(call), watches_(std::move(watches)) {}
  ~Watch() override { watches_->open.erase(this); }

  void on_message(Buffer request) override {
    auto name = watches_->service_of(request.view());
    if (!name.ok()) return call_.finish(rpc::End::of(name.error()));
    service_ = std::move(*name);
    watches_->open.insert(this);
    tell();
  }
  void on_end_of_messages() override {
    call_.finish({Code::invalid_argument, "the request message is missing"});
  }
  void on_writable() override {
    writing_ = false;
    tell();
  }
  void on_cancel() override {
    watches_->open.erase(this);
    call_.finish({Code::cancelled, "the caller has gone"});
  }

  // Sends the health if it has changed. A change during a write is sent after it, unless the health
  // has changed back by then.
  void tell() {
    const Status now = watches_->of(service_);
    if (writing_ || now == told_) return;
    writing_ = true;
    told_ = now;
    call_.write(watches_->answer(now));
  }

 private:
  rpc::Call call_;
  const std::shared_ptr<Watches> watches_;
  std::string service_;
  std::optional<Status> told_;
  bool writing_ = false;
};

HealthCheck::HealthCheck(Health& health, const MethodRegistry& methods)
    : health_(health), methods_(methods) {}

HealthCheck::~HealthCheck() {
  if (watches_) health_.on_change({});
}

std::vector<std::string> HealthCheck::paths() {
  return {method("Check").path, method("Watch").path};
}

Result<> HealthCheck::serve(const Host& host) {
  auto schema = make_schema(view(davit_health_descriptors()), {});
  if (!schema.ok()) return schema.error();
  watches_ =
      std::make_shared<Watches>(Watches{host.strand(), health_, methods_, std::move(*schema), {}});
  health_.on_change([watches = watches_] {
    watches->strand.post([watches] {
      for (Watch* watch : watches->open) watch->tell();
    });
  });

  const rpc::Server server(host);
  auto check = server.unary(
      method("Check"), [watches = watches_](rpc::Call, Buffer request, const auto& reply) {
        const auto name = watches->service_of(request.view());
        if (!name.ok()) return reply(name.error());
        const Status status = watches->of(*name);
        if (status != service_unknown) return reply(watches->answer(status));
        reply(Error{Code::not_found, "service \"" + trimmed(*name) + "\" is not served here"});
      });
  if (!check.ok()) return check;
  rpc::Method watch = method("Watch");
  watch.server_streams = true;
  return server.serve(watch, [server, watches = watches_](rpc::Call call) {
    server.accept(call, watches->strand, std::make_unique<Watch>(call, watches));
    call.read();
  });
}

}  // namespace davit::host
