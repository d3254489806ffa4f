#include "point_query.hpp"

#include <davit/v1/agent.pb.h>
#include <davit/required_features.hpp>

#include "davit_wire_descriptors.h"
#include "frames.hpp"
#include "request.hpp"

namespace davit::streamer {

namespace {

struct Found {
  std::optional<Change> change;
  Judgement judgement;
  Cursor at;
};
// As the store has it.
struct Stored {
  std::optional<Record> record;
  Cursor at;
};

// Runs on the storage's pool.
Result<Stored> look_up(const Queries& queries, const storage::Client& storage, const Query& query) {
  // No record has a name that is longer, or has other characters, than a storage may be asked for.
  if (storage::outside(query)) {
    const auto head = storage.head();
    if (!head.ok()) return head.error();
    return Stored{{}, head->head};
  }
  Stored out;
  auto head = storage.get(query, [&](const davit_record& r) {
    const bool live = (r.flags & DAVIT_RECORD_LIVE) != 0;
    // A name may belong to deleted records and to a live one. The live one is the answer.
    if (out.record && !live) return true;
    if (!live && r.name.len == 0) return true;  // deleted, and another record has its name
    out.record = from_abi(r);
    return !live;
  });
  if (!head.ok()) {
    if (!storage.op().cancelled()) queries.storage_errors.add();
    return head.error();
  }
  out.at = head->head;
  return out;
}

// Runs on the kind's pool.
Result<Found> judge(Queries& queries, const Classifier::Kind& kind, Stored stored) {
  auto judgement = Classifier::judge(kind, *stored.record);
  if (!judgement.ok()) return judgement.error();
  Found out{{}, *judgement, stored.at};
  out.change = queries.classifier.change(kind, std::move(*stored.record), std::move(*judgement));
  return out;
}

// The size that a look-up counts as: about a record.
constexpr size_t look_up_bytes = 4 << 10;

using MakeAnswer = std::function<Result<std::string>(const Found&)>;

// Runs on the storage's pool, and then on that of the kind, if there is something to ask it.
void answer_query(Queries& queries, const storage::Client& storage, const Classifier::Kind& kind,
                  const Query& query, MakeAnswer answer, rpc::Server::Reply reply) {
  auto stored = look_up(queries, storage, query);
  if (!stored.ok()) return reply(stored.error());
  if (!stored->record) return reply(answer(Found{{}, {}, stored->at}));
  queries.host.blocking(kind.client.instance(),
                        [&queries, &kind, stored = std::move(*stored), answer = std::move(answer),
                         reply = std::move(reply)]() mutable {
                          const auto found = judge(queries, kind, std::move(stored));
                          reply(found.ok() ? answer(*found) : found.error());
                        });
}

// Waits for the turn of the region and kind: a kind that takes long keeps its own queries waiting.
void look_up_in_turn(Queries& queries, const rpc::Call& call, const Classifier::Kind& kind,
                     const Query& query, const rpc::Server::Reply& reply, MakeAnswer answer) {
  const Turns::Ask ask{query.key.region + "/" + query.key.kind, look_up_bytes, 0,
                       Turns::Time(call.deadline_ns())};
  queries.look_ups.in_turn(
      ask, reply,
      [&queries, &kind, query, storage = queries.storage.under(call.operation()),
       answer = std::move(answer)](const rpc::Server::Reply& ends) {
        queries.host.blocking(storage.instance(), [&queries, storage, &kind, query, answer, ends] {
          answer_query(queries, storage, kind, query, answer, ends);
        });
      });
}

Result<std::string> state_of(const Classifier::Kind& kind, const Found& found,
                             const std::string& id, bool krane) {
  if (!found.change) {
    return Error{Code::not_found,
                 "no " + kind.client.kind() + " with id \"" + id + "\" in this region"};
  }
  // The answer can only say apply or delete. For a hold it is an error, which makes the agent leave
  // the object alone.
  if (found.change->verb == Verb::hold) {
    const Code code =
        found.judgement.cause == Cause::paused ? Code::failed_precondition : Code::internal;
    return Error{code, found.change->body};
  }
  return krane ? encode_krane_state(kind, *found.change, {})
               : encode_state(kind, *found.change, {});
}

}  // namespace

Result<> serve_get(Queries& queries, const rpc::Server& server) {
  const rpc::Method method{.path = "davit.v1.AgentService/Get",
                           .request_type = "davit.v1.GetRequest",
                           .response_type = "davit.v1.GetResponse",
                           .descriptor_set = davit_wire_descriptors(),
                           .role = "agent"};
  return server.unary(method, [&queries](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
    auto region = rpc::authorized_region(call);
    if (!region.ok()) return reply(region.error());
    v1::GetRequest message;
    if (!message.ParseFromArray(request.view().data(), static_cast<int>(request.size()))) {
      return reply(Error{Code::invalid_argument, "the request cannot be decoded"});
    }
    if (auto r = refuse_unknown_features(message.required_features()); !r.ok())
      return reply(r.error());
    const auto* kind = queries.classifier.kind(message.kind());
    if (kind == nullptr) {
      return reply(Error{Code::invalid_argument,
                         "kind \"" + message.kind() + "\" is not known to this server"});
    }
    if (message.id().empty() && message.name().empty()) {
      return reply(Error{Code::invalid_argument, "neither an id nor a name is given"});
    }
    const Query query{
        {message.kind(), *region, message.id()}, message.namespace_(), message.name()};
    look_up_in_turn(queries, call, *kind, query, reply, [](const Found& found) {
      return encode_get(found.change ? &*found.change : nullptr, found.at);
    });
  });
}

Result<> serve_ctrl_get(Queries& queries, const rpc::Server& server, const Classifier::Kind& kind) {
  const auto& description = kind.client.description();
  const rpc::Method method{.path = "ctrl.v1.ClusterService/" + description.ctrl_v1->get,
                           .request_type = description.ctrl_v1->get_type,
                           .response_type = description.ctrl_v1->state_type,
                           .descriptor_set = description.descriptor_set,
                           .role = "agent"};
  return server.unary(
      method, [&queries, &kind](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
        auto region = rpc::authorized_region(call);
        if (!region.ok()) return reply(region.error());
        auto id = parse_ctrl_get(request.view());
        if (!id.ok()) return reply(id.error());
        const Query query{{kind.client.kind(), *region, *id}, {}, {}};
        look_up_in_turn(queries, call, kind, query, reply,
                        [&kind, id = *id, krane = !is_davit(call)](const Found& found) {
                          return state_of(kind, found, id, krane);
                        });
      });
}

}  // namespace davit::streamer
