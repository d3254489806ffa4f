// OperatorService/Apply and Delete.
#include <davit/v1/operator.pb.h>

#include "changes.hpp"
#include "document.hpp"

namespace davit::desired {

namespace {

v1::Outcome::Type type_to_wire(OutcomeType type) {
  switch (type) {
    case OutcomeType::undecided:
      return v1::Outcome::TYPE_UNSPECIFIED;
    case OutcomeType::created:
      return v1::Outcome::TYPE_CREATED;
    case OutcomeType::changed:
      return v1::Outcome::TYPE_CHANGED;
    case OutcomeType::unchanged:
      return v1::Outcome::TYPE_UNCHANGED;
    case OutcomeType::applied:
      return v1::Outcome::TYPE_APPLIED;
    case OutcomeType::deleted:
      return v1::Outcome::TYPE_DELETED;
    case OutcomeType::absent:
      return v1::Outcome::TYPE_ABSENT;
    case OutcomeType::refused:
      return v1::Outcome::TYPE_REFUSED;
  }
  return v1::Outcome::TYPE_UNSPECIFIED;
}

void outcome_to_wire(const Outcome& o, v1::Outcome* out) {
  out->set_kind(o.key.kind);
  out->set_region(o.key.region);
  out->set_id(o.key.id);
  out->set_type(type_to_wire(o.type));
  out->set_outcome(word_of(o.type));
  out->set_version(o.version.value());
  out->set_incarnation(o.incarnation.value());
  out->set_message(o.note);
  if (!o.error) return;
  out->set_code(static_cast<int32_t>(o.error->code));
  out->set_field(o.error->where == "expect" ? "version" : o.error->where);
  out->set_message(o.error->message);
}

// The words of required_features that this file is about.
constexpr const char* document_version = "document_version";
constexpr const char* show_documents = "show_documents";

// Both are written anew: the store may have kept the JSON of an earlier release.
void documents_to_wire(const Kinds& kinds, Outcome outcome, v1::Outcome* out) {
  if (outcome.before) {
    write_json(kinds, *outcome.before);
    to_wire(*outcome.before, out->mutable_before());
    out->mutable_before()->set_version(outcome.before->version.value());
    out->mutable_before()->set_incarnation(outcome.incarnation.value());
  }
  if (outcome.after) {
    write_json(kinds, *outcome.after);
    to_wire(*outcome.after, out->mutable_after());
  }
}

// The author that the request names, else the caller.
std::string author_of(const std::string& claimed, const rpc::Call& call) {
  return claimed.empty() ? call.identity().name : claimed;
}

template <class Response>
void answer(Shared& shared, const rpc::Call& call, Changes changes, bool with_documents,
            rpc::Server::Reply reply) {
  change(
      shared, shared.storage.under(call.operation()), std::move(changes),
      [&shared, with_documents, reply = std::move(reply)](Result<std::vector<Outcome>> outcomes) {
        if (!outcomes.ok()) return reply(outcomes.error());
        Response response;
        for (Outcome& o : *outcomes) {
          outcome_to_wire(o, response.add_outcomes());
          if (with_documents)
            documents_to_wire(shared.kinds, std::move(o),
                              response.mutable_outcomes(response.outcomes_size() - 1));
        }
        reply(response.SerializeAsString());
      });
}

void apply(Shared& shared, const rpc::Call& call, const Buffer& request, rpc::Server::Reply reply) {
  v1::ApplyRequest message;
  if (auto r = parse(message, request.view(), {document_version, show_documents}); !r.ok())
    return reply(r.error());
  Changes changes;
  for (const auto& d : message.documents()) {
    changes.documents.push_back(from_wire(d));
    changes.expected_in.emplace_back(d.incarnation());
  }
  changes.unchanged_will_do = true;
  changes.author = author_of(message.author(), call);
  changes.caller = call.identity().name;
  changes.request_id = message.request_id();
  changes.dry_run = message.dry_run();
  changes.again = message.again();
  const bool with_documents = message.show_documents() && message.dry_run();
  answer<v1::ApplyResponse>(shared, call, std::move(changes), with_documents, std::move(reply));
}

void remove(Shared& shared, const rpc::Call& call, const Buffer& request,
            rpc::Server::Reply reply) {
  v1::DeleteRequest message;
  if (auto r = parse(message, request.view()); !r.ok()) return reply(r.error());
  Changes changes;
  for (const auto& k : message.keys())
    changes.documents.push_back(records::deletion({k.kind(), k.region(), k.id()}));
  changes.author = author_of(message.author(), call);
  changes.dry_run = message.dry_run();
  answer<v1::DeleteResponse>(shared, call, std::move(changes), false, std::move(reply));
}

}  // namespace

Result<> serve_changes(Shared& shared, const rpc::Server& server) {
  auto served = server.unary(method("Apply", "ApplyRequest", "ApplyResponse"),
                             [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
                               apply(shared, call, request, std::move(reply));
                             });
  if (!served.ok()) return served;
  return server.unary(method("Delete", "DeleteRequest", "DeleteResponse"),
                      [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
                        remove(shared, call, request, std::move(reply));
                      });
}

}  // namespace davit::desired
