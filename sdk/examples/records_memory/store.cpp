#include "store.hpp"

#include <algorithm>
#include <set>

#include <boost/json.hpp>

namespace records_memory {
namespace {

namespace json = boost::json;
using davit::Code, davit::Error;

constexpr const char* deleted = "deleted";

Error bad(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where)};
}
bool is_dead(const Record* r) {
  return r == nullptr || !r->live;
}
// Two requests with one id must have the same (R6).
std::string content_of(const records::Apply& request) {
  std::string out;
  for (const records::Document& d : request.documents) {
    for (const std::string& part : {d.key.kind, d.key.region, d.key.id, d.state, d.spec})
      out += std::to_string(part.size()) + ":" + part;
    for (const auto& [key, value] : d.annotations) out += "\n" + key + "=" + value;
    out += to_string(d.expect) + (d.remove ? " delete\n" : " apply\n");
  }
  return out;
}

// A note is {"id", "name", "text"}, three texts that are not empty.
Result<std::map<std::string, std::string>> note_of(const std::string& spec) {
  json::error_code fault;
  const json::value parsed = json::parse(spec, fault);
  if (fault || !parsed.is_object()) return bad("spec", "is no JSON object");
  std::map<std::string, std::string> out = {{"id", ""}, {"name", ""}, {"text", ""}};
  for (const auto& [name, value] : parsed.as_object()) {
    const std::string field(name);
    if (!out.contains(field)) return bad("spec." + field, "is not known");
    if (!value.is_string()) return bad("spec." + field, "is no text");
    out[field] = value.as_string();
  }
  for (const auto& [field, value] : out) {
    if (value.empty()) return bad("spec." + field, "is empty");
  }
  return out;
}

// The record that a document describes (R3).
Result<Record> record_of(const records::Document& d) {
  if (d.key.kind != "note") return bad("kind", "is not known");
  if (d.key.region.empty()) return bad("region", "is empty");
  if (!d.state.empty() && d.state != "running") return bad("state", "is not known");
  auto note = note_of(d.spec);
  if (!note.ok()) return note.error();
  if (!d.key.id.empty() && d.key.id != note->at("id"))
    return bad("id", "is not the one in the spec");
  Record out;
  out.key = {d.key.kind, d.key.region, note->at("id")};
  out.ns = "notes";
  out.name = note->at("name");
  out.state = "running";
  out.live = true;
  // In one form, so that what means the same has the same bytes (R4).
  out.json = out.payload = json::serialize(json::value_from(*note));
  out.annotations = d.annotations;
  std::sort(out.annotations.begin(), out.annotations.end());
  const auto twice =
      std::adjacent_find(out.annotations.begin(), out.annotations.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != out.annotations.end()) return bad("annotations", "has a key twice");
  return out;
}

std::optional<Error> fault_of(const records::Apply& request) {
  if (request.author.empty()) return bad("author", "is empty");
  const std::string& id = request.request_id;
  if (id.size() > 253 || id.find('\n') != std::string::npos) return bad("request_id", "cannot be");
  return std::nullopt;
}

}  // namespace

const Record* Store::find(const Key& key) const {
  const auto at = records_.find(key);
  return at == records_.end() ? nullptr : &at->second;
}

Cursor Store::head() const {
  const std::lock_guard lock(mutex_);
  return {incarnation_, head_};
}

Result<> Store::accept(Cursor cursor) const {
  if (!cursor.version) return {};
  if (cursor.incarnation == incarnation_ && cursor.version <= head().version) return {};
  return Error{Code::out_of_range, "the cursor is of another history", "after"};
}

Store::Wanted Store::judged(const records::Document& document, const std::string& author) const {
  Wanted out{document, {}, {}, {}};
  out.record.key = document.key;
  if (document.remove) {
    if (!document.spec.empty()) out.error = bad("spec", "a delete has none");
  } else if (auto record = record_of(document); record.ok()) {
    out.record = std::move(*record);
  } else {
    out.error = record.error();
  }
  if (out.error) return out;
  decide(out);
  out.record.author = author;
  return out;
}

void Store::decide(Wanted& w) const {
  const Record* stored = find(w.record.key);
  if (w.document.remove) {
    w.outcome = is_dead(stored) ? "absent" : "deleted";
    if (stored != nullptr) w.record = *stored;
    w.record.state = deleted;
    w.record.live = false;
  } else {
    const bool same = !is_dead(stored) && stored->json == w.record.json &&
                      stored->annotations == w.record.annotations;
    w.outcome = is_dead(stored) ? "created" : same ? "unchanged" : "changed";
  }
  w.version = stored == nullptr ? Version() : stored->version;
  w.error = unmet(w, stored);
  if (w.error && is_dead(stored)) w.version = {};
}

// The version that a document expects (R5): 0 is that of a record that does not exist.
std::optional<Error> Store::unmet(const Wanted& w, const Record* stored) const {
  const Version expect = w.document.expect;
  if (expect == davit::any_version) return std::nullopt;
  if (!expect ? is_dead(stored) : stored != nullptr && stored->version == expect)
    return std::nullopt;
  return Error{Code::aborted, "has another version", "expect"};
}

// What the documents of a group are to each other: no two are about one record, and a name that is
// taken may be freed by a delete of the same group (R2, R3).
void Store::check_together(std::vector<Wanted>& group) const {
  std::set<Key> once, removed;
  for (Wanted& w : group) {
    if (!w.error && !once.insert(w.record.key).second) w.error = bad("id", "is there twice");
    if (w.document.remove) removed.insert(w.record.key);
    if (w.document.remove || w.error) continue;
    for (const auto& [key, other] : records_) {
      const bool has_it = other.live && other.name == w.record.name && key != w.record.key &&
                          key.region == w.record.key.region && !removed.contains(key);
      if (has_it) w.error = Error{Code::already_exists, "its name is taken", key.id};
    }
  }
}

// Commits the group, unless one document is at fault: then the others name that one (R1, R2).
records::AppliedList Store::settled(std::vector<Wanted>& group, bool commit) {
  const auto culprit =
      std::find_if(group.begin(), group.end(), [](const Wanted& w) { return w.error; });
  const std::string which = "documents[" + std::to_string(culprit - group.begin()) + "]";
  records::AppliedList out;
  for (Wanted& w : group) {
    auto& result = out.emplace_back(records::Applied{w.record.key, {}, {incarnation_, w.version}});
    if (culprit != group.end()) {
      result.error = w.error ? w.error : Error{culprit->error->code, which + " is refused", which};
      continue;
    }
    result.outcome = w.outcome;
    if (w.outcome == "unchanged" || w.outcome == "absent") continue;
    result.at.version = {};
    if (!commit) continue;
    w.record.version = result.at.version = ++head_;
    records_[w.record.key] = w.record;
  }
  return out;
}

records::AppliedList Store::apply(const records::Apply& request) {
  const std::lock_guard lock(mutex_);
  const std::pair id(request.author, request.request_id);
  const bool remembers = !request.request_id.empty() && !request.dry_run;
  const auto before = answered_.find(id);
  const bool repeated = remembers && before != answered_.end();
  if (repeated && before->second.content == content_of(request)) return before->second.results;
  std::vector<Wanted> group;
  for (const records::Document& d : request.documents) {
    group.push_back(judged(d, request.author));
    if (const auto fault = fault_of(request)) group.back().error = fault;
    if (repeated)
      group.back().error = {Code::failed_precondition, "was used for something else", "request_id"};
  }
  check_together(group);
  const auto out = settled(group, !request.dry_run);
  const bool committed = std::none_of(out.begin(), out.end(), [](auto& r) { return r.error; });
  if (remembers && committed) answered_[id] = {content_of(request), out};
  return out;
}

Result<records::Found> Store::get(const davit::Query& query) const {
  const Key& key = query.key;
  if (key.kind.empty() || key.region.empty() || (key.id.empty() && query.name.empty()))
    return bad("key", "is not whole");
  const std::lock_guard lock(mutex_);
  records::Found out;
  out.head = out.next = {incarnation_, head_};
  for (const auto& [at, r] : records_) {
    if (at.kind != key.kind || at.region != key.region) continue;
    const bool named = r.live && r.name == query.name && (query.ns.empty() || query.ns == r.ns);
    if (key.id.empty() ? named : at.id == key.id) out.records.push_back(r);
  }
  return out;
}

std::optional<Record> Store::next(const records::Read& scope, Version above,
                                  Version dead_after) const {
  const std::lock_guard lock(mutex_);
  const Record* best = nullptr;
  for (const auto& [key, r] : records_) {
    const bool wanted = (scope.kind.empty() || key.kind == scope.kind) &&
                        (scope.region.empty() || key.region == scope.region) &&
                        (r.live || r.version > dead_after);
    if (wanted && r.version > above && (best == nullptr || r.version < best->version)) best = &r;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

Result<records::Found> Store::list(const records::Read& read) const {
  if (!read.kind.empty() && read.kind != "note") return bad("kind", "is not known");
  if (auto r = accept(read.after); !r.ok()) return r.error();
  records::Found out;
  out.head = head();
  const Version dead_after = read.deleted ? Version() : Version::max();
  Version above = read.after.version;
  while (out.records.size() < read.limit) {
    auto r = next(read, above, dead_after);
    if (!r) break;
    above = r->version;
    out.records.push_back(std::move(*r));
  }
  out.more = next(read, above, dead_after).has_value();
  out.next = {incarnation_, out.more ? above : out.head.version};
  return out;
}

}  // namespace records_memory
