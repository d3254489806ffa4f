#include "intents.hpp"

#include "davit/code_names.hpp"
#include "davit/storage_groups.hpp"
#include "text_form.hpp"

namespace davit::storage_postgres {
namespace {

constexpr size_t forgotten_at_once = 5'000;  // some tens of milliseconds

// Those before which there are fewer bytes than that.
constexpr size_t page_bytes = 4 << 20;
constexpr Statement find_open = {
    "open_intents",
    "SELECT id, document, author FROM (SELECT id, document, author, sum(octet_length(document)) "
    "OVER (ORDER BY id) - octet_length(document) AS before FROM (SELECT id, document, author FROM "
    "intents WHERE decided_at IS NULL AND id > $1::bigint ORDER BY id LIMIT $2::bigint) AS o) AS p "
    "WHERE before < $3::bigint ORDER BY id"};
// With the lock the row is read anew, so it is open now.
constexpr Statement lock_open = {
    "lock_intents",
    "SELECT id FROM intents WHERE decided_at IS NULL AND id = ANY($1::bigint[]) ORDER BY id FOR "
    "UPDATE SKIP LOCKED"};
constexpr Statement look_open = {
    "look_intents", "SELECT id FROM intents WHERE decided_at IS NULL AND id = ANY($1::bigint[])"};
constexpr Statement write_versions = {
    "write_intents",
    "UPDATE intents i SET decided_at = statement_timestamp(), version = w.version, incarnation = "
    "$1::numeric FROM unnest($2::bigint[], $3::bigint[]) AS w(id, version) WHERE i.id = w.id"};
constexpr Statement write_error = {
    "fail_intent",
    "UPDATE intents SET decided_at = statement_timestamp(), code = $2, field = $3, error = $4 "
    "WHERE id = $1::bigint"};
constexpr Statement write_found = {
    "settle_intent",
    "UPDATE intents SET decided_at = statement_timestamp(), version = nullif($2::bigint, 0), "
    "incarnation = nullif($3::numeric, 0) WHERE id = $1::bigint"};
constexpr Statement forget_old = {
    "forget_intents",
    "DELETE FROM intents WHERE id IN (SELECT id FROM intents WHERE decided_at < now() - "
    "$1::double precision * interval '1 millisecond' ORDER BY decided_at LIMIT $2::bigint)"};

std::string name_of(Code code) {
  const auto word = word_of(code);
  return word.empty() ? std::to_string(static_cast<size_t>(code)) : std::string(word);
}

// Those that it could not lock are decided, removed or another transaction's.
OpenIntents lock_those(Session& session, const std::set<uint64_t>& ids) {
  OpenIntents out;
  if (ids.empty()) return out;
  ArrayText text;
  for (const uint64_t id : ids) text.add(bounded_number(id));
  const std::string all = text.take();
  for (const auto& row : session.ask(lock_open, {all})) out.ours.insert(to_number(row[0].c_str()));
  if (out.ours.size() == ids.size()) return out;
  for (const auto& row : session.ask(look_open, {all})) {
    const uint64_t id = to_number(row[0].c_str());
    if (!out.ours.contains(id)) out.others.insert(id);
  }
  return out;
}

}  // namespace

std::vector<storage::Intent> open_intents(Session& session, uint64_t after, uint32_t limit) {
  std::vector<storage::Intent> out;
  const auto rows = session.ask(
      find_open, {bounded_number(after), std::to_string(limit), std::to_string(page_bytes)});
  for (const auto& row : rows)
    out.push_back({to_number(row[0].c_str()), row[1].c_str(), row[2].c_str()});
  return out;
}

OpenIntents lock_intents(Session& session, const std::vector<Group>& groups) {
  std::set<uint64_t> ids;
  for (const Group& group : groups) {
    if (group.intent != 0) ids.insert(group.intent);
  }
  return lock_those(session, ids);
}

void write_outcomes(Session& session, Incarnation incarnation,
                    const std::vector<CarriedOut>& carried_out) {
  if (carried_out.empty()) return;
  ArrayText ids, versions;
  for (const CarriedOut& one : carried_out) {
    ids.add_number(one.intent);
    versions.add_number(one.version);
  }
  session.ask(write_versions, {to_string(incarnation), ids.take(), versions.take()});
}

void settle_intent(Session& session, const storage::IntentOutcome& outcome) {
  const OpenIntents found = lock_those(session, {outcome.id});
  if (!found.others.empty()) throw Fault(storage::busy(outcome.id));
  if (found.ours.empty()) return;
  const std::string id = bounded_number(outcome.id);
  if (outcome.error) {
    const Error& e = *outcome.error;
    session.ask(write_error, {id, name_of(e.code), e.where, e.message});
  } else {
    session.ask(write_found,
                {id, bounded_number(outcome.at.version), to_string(outcome.at.incarnation)});
  }
}

bool forget_intents(Session& session, std::chrono::milliseconds age) {
  const auto gone =
      session.ask(forget_old, {std::to_string(age.count()), std::to_string(forgotten_at_once)});
  return static_cast<size_t>(gone.affected_rows()) == forgotten_at_once;
}

}  // namespace davit::storage_postgres
