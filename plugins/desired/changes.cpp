// OperatorService/Apply and Delete.
#include <algorithm>
#include <map>
#include <set>

#include <davit/v1/operator.pb.h>
#include <davit/short_hash.hpp>

#include "conditions.hpp"
#include "document.hpp"
#include "mutations.hpp"
#include "shared.hpp"

namespace davit::desired {

namespace {

void outcome_to_wire(const Outcome& o, v1::Outcome* out) {
  out->set_kind(o.key.kind);
  out->set_region(o.key.region);
  out->set_id(o.key.id);
  out->set_outcome(o.word);
  out->set_version(o.version);
  out->set_incarnation(o.incarnation);
  out->set_message(o.note);
  if (!o.error) return;
  out->set_code(static_cast<int32_t>(o.error->code));
  out->set_field(o.error->where);
  out->set_message(o.error->message);
}

Outcome refused(Key key, Error error) {
  return {std::move(key), "refused", 0, std::move(error)};
}

// The author that the request names, else the caller.
std::string author_of(const std::string& claimed, const rpc::Call& call) {
  return claimed.empty() ? call.identity().name : claimed;
}

// The record that a document asks for. Refuses a region that no agent's token names: a record of a
// mistyped region would look as if all were well.
Result<Record> wanted_of(const Shared& shared, const v1::Document& document) {
  auto record = to_record(shared.kinds, document);
  if (!record.ok() || rpc::Server(shared.host).knows_region(document.region())) return record;
  return Error{Code::invalid_argument,
               "\"" + document.region() + "\" is not known: no token of an agent names it",
               "region",
               {}};
}

Mutations::Item item_of(const Shared& shared, const v1::Document& document,
                        const std::string& author, bool again) {
  auto record = wanted_of(shared, document);
  if (!record.ok()) {
    const Key key{document.kind(), document.region(), document.id()};
    return {key, {}, {}, refused(key, record.error())};
  }
  record->author = author;
  const Kind* kind = shared.kinds.get(document.kind());
  auto same = [kind](std::string_view a, std::string_view b) {
    return kind->schema.equal(kind->client.description().apply_type, a, b);
  };
  Key key = record->key;
  return {std::move(key),
          [wanted = std::move(*record), same, again](const std::optional<Record>& stored) {
            return decide_apply(wanted, stored, same, again);
          },
          {},
          {}};
}

// A hash of what a document asks for, whatever is stored. The store refuses a later request with
// the same request id and another fingerprint. (short_hash is not safe against forgery, but nobody
// gains by a forgery here.)
std::string fingerprint(const v1::Document& d, bool again) {
  std::string all = again ? "again:" : "";
  for (const std::string* part : {&d.kind(), &d.region(), &d.id(), &d.state(), &d.spec_json()})
    all += std::to_string(part->size()) + ':' + *part;
  const std::map<std::string, std::string> sorted(d.annotations().begin(), d.annotations().end());
  for (const auto& [key, value] : sorted)
    all += std::to_string(key.size()) + ':' + key + std::to_string(value.size()) + ':' + value;
  return short_hash(all);
}

// Each document is a group of its own, so it has an id of its own. The id contains the caller,
// because two callers may choose the same request id.
Mutations::Request request_of(const v1::ApplyRequest& message, int n, const std::string& caller) {
  if (message.request_id().empty()) return {};
  const std::string shown = message.request_id() + "#" + std::to_string(n + 1);
  return {shown, caller + "\t" + shown + "\n" + fingerprint(message.documents(n), message.again())};
}

Result<> usable_request_id(const std::string& id) {
  constexpr size_t bytes_max = 253;
  const bool odd =
      std::any_of(id.begin(), id.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (id.size() <= bytes_max && !odd) return {};
  return Error{Code::invalid_argument,
               "is longer than 253 bytes or has control characters",
               "request_id",
               {}};
}

// A second change of the same record would race with the first.
void refuse_twins(std::vector<Mutations::Item>& items) {
  std::set<Key> once;
  for (auto& item : items) {
    if (item.outcome.word.empty() && !once.insert(item.key).second) {
      item.outcome =
          refused(item.key, {Code::invalid_argument, "is named twice in this request", "id", {}});
    }
  }
}

// Runs on the storage's pool.
void apply_each(Shared& shared, const storage::Client& storage, const v1::ApplyRequest& message,
                const std::string& author, const std::string& caller, rpc::Server::Reply reply,
                Outstanding::Ticket ticket) {
  std::vector<Mutations::Item> items;
  for (int n = 0; n < message.documents_size(); ++n) {
    items.push_back(item_of(shared, message.documents(n), author, message.again()));
    items.back().request = request_of(message, n, caller);
  }
  refuse_twins(items);
  Mutations::run(shared.host, storage, std::move(items), message.dry_run(), std::move(ticket),
                 [reply = std::move(reply)](const std::vector<Outcome>& outcomes) {
                   v1::ApplyResponse response;
                   for (const auto& o : outcomes) outcome_to_wire(o, response.add_outcomes());
                   reply(response.SerializeAsString());
                 });
}

void apply(Shared& shared, rpc::Call call, const Buffer& request, rpc::Server::Reply reply) {
  v1::ApplyRequest message;
  if (!parse(message, request)) return reply(undecodable());
  if (auto r = usable_request_id(message.request_id()); !r.ok()) return reply(r.error());
  std::string author = author_of(message.author(), call);
  // The kind may block.
  shared.host.blocking(
      shared.storage.instance(),
      [&shared, storage = shared.storage.under(call.operation()), message = std::move(message),
       author = std::move(author), caller = call.identity().name, reply = std::move(reply),
       ticket = shared.outstanding.begin()]() mutable {
        apply_each(shared, storage, message, author, caller, std::move(reply), std::move(ticket));
      });
}

// The objects that agents show as orphaned. Read at the first call of find(), because most deletes
// are of records and need none of them.
class Orphans {
 public:
  explicit Orphans(storage::Client storage) : storage_(std::move(storage)) {}

  // On the storage's pool, one call at a time. NULL: no agent shows the object as orphaned.
  Result<const Issue*> find(const Key& key) {
    if (!said_) {
      std::vector<Agent> agents;
      auto r = storage_.agents({}, [&agents](const davit_progress& p) {
        agents.push_back({from_abi(p)});
        return true;
      });
      if (!r.ok()) return r.error();
      said_.emplace(std::move(agents));
    }
    return said_->orphan(key);
  }

 private:
  storage::Client storage_;
  std::optional<Conditions> said_;
};

Decision decide_removal(const Shared& shared, Orphans& orphans, const Key& key,
                        const std::string& author, const std::optional<Record>& stored) {
  // A stored record can be deleted even when its kind is no longer loaded.
  if (!stored && shared.kinds.mistyped(key.kind))
    return {"refused", 0, {}, shared.kinds.unknown(key.kind)};
  if (stored && stored->state != "deleted") return decide_delete(key, stored, author);
  const auto orphan = orphans.find(key);
  if (!orphan.ok()) return {"refused", 0, {}, orphan.error()};
  return decide_delete(key, stored, author, *orphan);
}

void remove(Shared& shared, rpc::Call call, const Buffer& request, rpc::Server::Reply reply) {
  v1::DeleteRequest message;
  if (!parse(message, request)) return reply(undecodable());
  std::vector<Mutations::Item> items;
  const storage::Client storage = shared.storage.under(call.operation());
  const auto orphans = std::make_shared<Orphans>(storage);
  for (const auto& k : message.keys()) {
    Key key{k.kind(), k.region(), k.id()};
    Mutations::Item item{key,
                         [&shared, orphans, key, author = author_of(message.author(), call)](
                             const std::optional<Record>& stored) {
                           return decide_removal(shared, *orphans, key, author, stored);
                         },
                         {},
                         {}};
    if (key.kind.empty() || key.region.empty() || key.id.empty()) {
      const char* field = key.kind.empty() ? "kind" : key.region.empty() ? "region" : "id";
      item.outcome = refused(key, {Code::invalid_argument, "is empty", field, {}});
    }
    items.push_back(std::move(item));
  }
  refuse_twins(items);
  Mutations::run(shared.host, storage, std::move(items), message.dry_run(),
                 shared.outstanding.begin(),
                 [reply = std::move(reply)](const std::vector<Outcome>& outcomes) {
                   v1::DeleteResponse response;
                   for (const auto& o : outcomes) outcome_to_wire(o, response.add_outcomes());
                   reply(response.SerializeAsString());
                 });
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
