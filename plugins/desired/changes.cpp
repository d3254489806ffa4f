#include "changes.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <davit/short_hash.hpp>

#include "conditions.hpp"
#include "document.hpp"

namespace davit::desired {

namespace {

// The record that a document asks for. Refuses a region that no agent's token names: a record of a
// mistyped region would look as if all were well.
Result<Record> wanted_of(const Shared& shared, const records::Document& document) {
  auto record = to_record(shared.kinds, document);
  const std::string& region = document.key.region;
  if (!record.ok() || rpc::Server(shared.host).knows_region(region)) return record;
  return Error{Code::invalid_argument,
               "\"" + region + "\" is not known: no token of an agent names it", "region"};
}

Mutations::Item refused_item(const records::Document& document, Error error) {
  return {document.key, {}, {}, {document.key, OutcomeType::refused, Version(), std::move(error)}};
}

Expectation expectation_of(const Changes& changes, size_t n) {
  Expectation out{changes.documents[n].expect, {}, changes.unchanged_will_do};
  if (n < changes.expected_in.size()) out.incarnation = changes.expected_in[n];
  return out;
}

Mutations::Item apply_item(const Shared& shared, const Changes& changes, size_t n,
                           Result<Record> record) {
  const records::Document& document = changes.documents[n];
  if (!record.ok()) return refused_item(document, record.error());
  record->author = changes.author;
  const Kind* kind = shared.kinds.get(document.key.kind);
  auto same = [kind](std::string_view a, std::string_view b) {
    return kind->schema.equal(kind->client.description().apply_type, a, b);
  };
  Key key = record->key;
  return {std::move(key),
          [wanted = std::move(*record), same,
           again = changes.again](const std::optional<Record>& stored) {
            return decide_apply(wanted, stored, same, again);
          },
          expectation_of(changes, n)};
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
    return {OutcomeType::refused, Version(), {}, shared.kinds.unknown(key.kind)};
  if (!is_absent(stored)) return decide_delete(key, stored, author);
  const auto orphan = orphans.find(key);
  if (!orphan.ok()) return {OutcomeType::refused, Version(), {}, orphan.error()};
  return decide_delete(key, stored, author, *orphan);
}

Mutations::Item delete_item(const Shared& shared, const Changes& changes, size_t n,
                            const std::shared_ptr<Orphans>& orphans) {
  const records::Document& document = changes.documents[n];
  const Key& key = document.key;
  if (key.kind.empty() || key.region.empty() || key.id.empty()) {
    const char* field = key.kind.empty() ? "kind" : key.region.empty() ? "region" : "id";
    return refused_item(document, {Code::invalid_argument, "is empty", field});
  }
  if (!document.spec.empty() || !document.state.empty() || !document.annotations.empty()) {
    const char* field = !document.spec.empty()    ? "spec"
                        : !document.state.empty() ? "state"
                                                  : "annotations";
    return refused_item(document, {Code::invalid_argument, "must be absent in a delete", field});
  }
  return {key,
          [&shared, orphans, key, author = changes.author](const std::optional<Record>& stored) {
            return decide_removal(shared, *orphans, key, author, stored);
          },
          expectation_of(changes, n)};
}

// A hash of what documents ask for, whatever is stored. The store refuses a later request with the
// same request id and another fingerprint. (short_hash is not safe against forgery, but nobody
// gains by a forgery here.)
std::string fingerprint(const records::Document* first, size_t count, bool again) {
  std::string all = again ? "again:" : "";
  const auto add = [&all](const std::string& part) {
    all += std::to_string(part.size()) + ':' + part;
  };
  for (const records::Document* d = first; d != first + count; ++d) {
    if (d->remove) all += "delete:";
    if (d->expect != any_version) all += "expect " + to_string(d->expect) + ':';
    for (const std::string* part : {&d->key.kind, &d->key.region, &d->key.id, &d->state, &d->spec})
      add(*part);
    Pairs sorted = d->annotations;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [key, value] : sorted) add(key), add(value);
  }
  return short_hash(all);
}

// The id of a group contains the caller, because two callers may choose the same request id.
Mutations::Request request_of(const Changes& changes, size_t first, size_t count) {
  if (changes.request_id.empty()) return {};
  const std::string shown =
      changes.together ? changes.request_id : changes.request_id + "#" + std::to_string(first + 1);
  return {shown, changes.caller + "\t" + shown + "\n" +
                     fingerprint(&changes.documents[first], count, changes.again)};
}

Result<> usable_request_id(const std::string& id) {
  constexpr size_t bytes_max = 253;
  const bool odd =
      std::any_of(id.begin(), id.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (id.size() <= bytes_max && !odd) return {};
  return Error{Code::invalid_argument, "is longer than 253 bytes or has control characters",
               "request_id"};
}

// A second change of the same record would race with the first.
void refuse_twins(std::vector<Mutations::Item>& items) {
  std::set<Key> once;
  for (auto& item : items) {
    if (item.outcome.type == OutcomeType::undecided && !once.insert(item.key).second) {
      item.outcome = {item.key,
                      OutcomeType::refused,
                      {},
                      Error{Code::invalid_argument, "is named twice in this request", "id"}};
    }
  }
}

// A call on its way: each kind judges its documents, then the changes are carried out.
struct Call {
  Shared& shared;
  const storage::Client storage;
  const Changes changes;
  std::function<void(Result<std::vector<Outcome>>)> done;
  Outstanding::Ticket ticket;
  std::vector<std::optional<Result<Record>>> wanted;  // by document; nothing: no kind is asked
  std::atomic<size_t> left{1};                        // kinds that judge, and who asks them
};
using CallPtr = std::shared_ptr<Call>;

std::vector<Mutations::Group> groups_of(Call& call) {
  const Shared& shared = call.shared;
  const Changes& changes = call.changes;
  const auto orphans = std::make_shared<Orphans>(call.storage);
  std::vector<Mutations::Item> items;
  for (size_t n = 0; n < changes.documents.size(); ++n) {
    const records::Document& d = changes.documents[n];
    auto& wanted = call.wanted[n];
    items.push_back(d.remove ? delete_item(shared, changes, n, orphans)
                             : apply_item(shared, changes, n,
                                          wanted ? std::move(*wanted) : wanted_of(shared, d)));
  }
  refuse_twins(items);
  std::vector<Mutations::Group> out;
  if (changes.together && !items.empty()) {
    const size_t count = items.size();
    out.push_back({std::move(items), request_of(changes, 0, count), changes.intent});
    return out;
  }
  for (size_t n = 0; n < items.size(); ++n) {
    auto& group = out.emplace_back();
    group.items.push_back(std::move(items[n]));
    group.request = request_of(changes, n, 1);
  }
  return out;
}

// The stop cancels what runs, and no caller has given up because of it.
void name_the_stop(const Shared& shared, std::optional<Error>& error) {
  if (error && error->code == Code::cancelled && shared.operations.cancelled())
    error = shutting_down();
}

// The last one that ends carries the changes out.
void judged(const CallPtr& call) {
  if (--call->left > 0) return;
  Mutations::run(call->shared.host, call->storage, groups_of(*call), call->changes.dry_run,
                 call->ticket, [call](std::vector<Outcome> outcomes) {
                   for (Outcome& o : outcomes) name_the_stop(call->shared, o.error);
                   call->done(std::move(outcomes));
                 });
}

// On the kind's pool.
void judge_documents(const CallPtr& call, const std::vector<size_t>& documents) {
  for (const size_t n : documents) {
    // Nobody waits for the answer any more.
    const auto over = given_up(call->storage.op(), call->shared.host.now());
    call->wanted[n] =
        over ? Result<Record>(*over) : wanted_of(call->shared, call->changes.documents[n]);
  }
  judged(call);
}

}  // namespace

void change(Shared& shared, const storage::Client& storage, Changes changes,
            std::function<void(Result<std::vector<Outcome>>)> done) {
  if (auto r = usable_request_id(changes.request_id); !r.ok()) return done(r.error());
  const size_t count = changes.documents.size();
  const CallPtr call(new Call{shared, storage, std::move(changes), std::move(done),
                              shared.outstanding.begin(),
                              std::vector<std::optional<Result<Record>>>(count)});
  std::map<std::string, std::vector<size_t>> of_kinds;  // by instance
  for (size_t n = 0; n < count; ++n) {
    const records::Document& d = call->changes.documents[n];
    const Kind* kind = d.remove ? nullptr : shared.kinds.get(d.key.kind);
    if (kind != nullptr) of_kinds[std::string(kind->client.instance())].push_back(n);
  }
  call->left += of_kinds.size();
  for (auto& [instance, documents] : of_kinds) {
    shared.host.blocking(
        instance, [call, documents = std::move(documents)] { judge_documents(call, documents); });
  }
  judged(call);
}

}  // namespace davit::desired
