#include "service.hpp"

#include <davit/v1/federation.pb.h>

#include <davit/required_features.hpp>
#include <davit/rpc.hpp>

#include "controller/object_cache.hpp"
#include "davit_federation_descriptors.h"

namespace davit::federation {
namespace {

int64_t milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

void encode(const SideReport& side, const std::string& instance, v1::FederationSide& out) {
  out.set_instance(instance);
  out.set_complete(side.complete);
  out.set_reason(side.reason);
  out.set_age_ms(milliseconds(side.age));
  out.set_objects(side.objects);
}

void encode(const ObjectReport& object, v1::FederatedObject& out) {
  const auto [ns, name] = controller::split_key(object.key);
  out.set_namespace_(ns);
  out.set_name(name);
  out.set_standing(name_of(object.standing));
  const bool writes =
      object.does != Does::nothing && object.does != Does::wait && object.does != Does::stuck;
  if (writes) out.set_write(name_of(object.does));
  out.set_reason(object.why);
  out.set_age_ms(milliseconds(object.age));
}

void encode(const Report& report, const ResourceReport& resource, v1::FederatedResource& out) {
  const Rules& rules = resource.rules;
  out.set_resource(rules.name);
  out.set_version(rules.resource.version);
  out.set_namespace_(resource.ns);
  out.set_selector(rules.selector);
  encode(resource.upstream, rules.swapped ? report.downstream : report.upstream,
         *out.mutable_upstream());
  encode(resource.downstream, rules.swapped ? report.upstream : report.downstream,
         *out.mutable_downstream());
  for (const auto& [standing, count] : resource.standings) {
    v1::FederationCount& to = *out.add_counts();
    to.set_standing(name_of(standing));
    to.set_objects(count.objects);
    to.set_age_ms(milliseconds(count.oldest));
  }
  for (const ObjectReport& object : resource.objects) encode(object, *out.add_objects());
  out.set_objects_left_out(resource.left_out);
  out.set_trouble(resource.trouble);
}

std::string encode(const std::string& instance, const Report& report) {
  v1::FederationStatusResponse out;
  out.set_instance(instance);
  out.set_robot_name(report.robot_name);
  out.mutable_upstream()->set_instance(report.upstream);
  out.mutable_upstream()->set_cluster(report.upstream_id);
  out.mutable_downstream()->set_instance(report.downstream);
  out.mutable_downstream()->set_cluster(report.downstream_id);
  out.set_health(report.health);
  for (const auto& [of, reason] : report.faults) {
    v1::FederationFault& fault = *out.add_faults();
    fault.set_of(of);
    fault.set_reason(reason);
  }
  for (const ResourceReport& resource : report.resources)
    encode(report, resource, *out.add_resources());
  return out.SerializeAsString();
}

template <class Message>
Result<Message> read(const Buffer& request) {
  Message out;
  const auto bytes = request.view();
  if (!out.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return Error{Code::invalid_argument, "the request cannot be decoded"};
  if (auto known = refuse_unknown_features(out.required_features()); !known.ok())
    return known.error();
  return out;
}

rpc::Method method(const std::string& name, const std::string& request,
                   const std::string& response) {
  return {.path = "davit.v1.FederationService/" + name,
          .request_type = "davit.v1." + request,
          .response_type = "davit.v1." + response,
          .descriptor_set = davit_federation_descriptors(),
          .role = "operator"};
}

Result<> serve_status(const rpc::Server& server, const std::string& instance,
                      const std::shared_ptr<Hub>& hub) {
  return server.unary(
      method("Status", "FederationStatusRequest", "FederationStatusResponse"),
      [instance, hub](const rpc::Call&, const Buffer& request, const rpc::Server::Reply& reply) {
        const auto asked = read<v1::FederationStatusRequest>(request);
        if (!asked.ok()) return reply(asked.error());
        Question question{asked->resource(), asked->object(), asked->objects_max()};
        hub->report(question, [instance, reply](const Result<Report>& report) {
          if (!report.ok()) return reply(report.error());
          reply(encode(instance, *report));
        });
      });
}

Result<> serve_release(const rpc::Server& server, const std::shared_ptr<Hub>& hub) {
  return server.unary(
      method("Release", "FederationReleaseRequest", "FederationReleaseResponse"),
      [hub](const rpc::Call&, const Buffer& request, const rpc::Server::Reply& reply) {
        const auto asked = read<v1::FederationReleaseRequest>(request);
        if (!asked.ok()) return reply(asked.error());
        hub->release(asked->resource(), [reply](const Result<size_t>& released) {
          if (!released.ok()) return reply(released.error());
          v1::FederationReleaseResponse out;
          out.set_deletes(*released);
          reply(out.SerializeAsString());
        });
      });
}

}  // namespace

Result<> serve(const Host& host, const std::shared_ptr<Hub>& hub) {
  if (host.service<davit_rpc>(DAVIT_RPC) == nullptr) return {};
  const rpc::Server server(host);
  auto served = serve_status(server, std::string(host.instance()), hub);
  if (served.ok()) served = serve_release(server, hub);
  if (served.ok() || served.error().code != Code::already_exists) return served;
  host.info("davit federation status shows another instance of this process",
            {{"reason", served.error().message}});
  return {};
}

}  // namespace davit::federation
