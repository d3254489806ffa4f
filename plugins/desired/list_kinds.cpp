// OperatorService/ListKinds: the kinds of this server, for `davit explain`. What a kind's documents
// may say is its plugin's descriptor set, so that third parties' kinds are explained, too.
#include <davit/v1/operator.pb.h>

#include "shared.hpp"

namespace davit::desired {

namespace {

Result<std::string> list_kinds(const Shared& shared, const v1::ListKindsRequest& request) {
  v1::ListKindsResponse out;
  for (const auto& [name, kind] : shared.kinds.all()) out.add_kinds(name);
  if (request.kind().empty()) return out.SerializeAsString();
  const Kind* kind = shared.kinds.get(request.kind());
  if (kind == nullptr) return shared.kinds.unknown(request.kind());
  const auto& description = kind->client.description();
  auto& fields = *out.mutable_fields();
  fields.set_kind(description.kind);
  fields.set_spec_type(description.apply_type);
  fields.set_descriptor_set(std::string(view(description.descriptor_set)));
  for (const std::string& name : description.json_fields) fields.add_json_fields(name);
  fields.set_default_state(description.default_state);
  return out.SerializeAsString();
}

}  // namespace

Result<> serve_kinds(Shared& shared, const rpc::Server& server) {
  return server.unary(
      method("ListKinds", "ListKindsRequest", "ListKindsResponse"),
      [&shared](const rpc::Call&, const Buffer& request, const rpc::Server::Reply& reply) {
        v1::ListKindsRequest message;
        if (auto r = parse(message, request.view()); !r.ok()) return reply(r.error());
        reply(list_kinds(shared, message));
      });
}

}  // namespace davit::desired
