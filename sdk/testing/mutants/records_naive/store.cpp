#include "store.hpp"

#include <algorithm>
#include <set>

#include <boost/json.hpp>

namespace davit::naive {
namespace {

namespace json = boost::json;
using records::Document;

Error bad(std::string where, std::string message) {
  return {Code::invalid_argument, std::move(message), std::move(where)};
}
bool is_dead(const Record* r) {
  return r == nullptr || r->state == "deleted";
}
std::string content_of(const records::Apply& request) {
  std::string out;
  for (const Document& d : request.documents)
    out +=
        d.key.id + "|" + d.spec + "|" + to_string(d.expect) + "|" + std::to_string(d.remove) + "\n";
  return out;
}

}  // namespace

const Record* Store::find(const Key& key) const {
  const auto at = records_.find(key);
  return at == records_.end() ? nullptr : &at->second;
}
Version Store::head() const {
  const std::lock_guard lock(mutex_);
  return head_;
}
Result<> Store::known(Cursor cursor) const {
  if (cursor.version == 0 || is("any_cursor")) return {};
  if (cursor.incarnation == incarnation && cursor.version <= head()) return {};
  return Error{Code::out_of_range, "the cursor is of another history", "after"};
}

// The kind: {"id", "name", "label"}, all of them texts that are not empty.
Result<Record> Store::validated(const Document& d) const {
  if (d.key.kind != "widget") return bad("kind", "is not known");
  if (d.key.region.empty()) return bad("region", "is empty");
  json::error_code fault;
  const auto parsed = json::parse(d.spec, fault);
  if (fault || !parsed.is_object()) return bad("spec", "is no JSON object");
  Record out;
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : parsed.as_object()) {
    const bool known = name == "id" || name == "name" || name == "label";
    if (!known || !value.is_string()) return bad("spec." + std::string(name), "is not known");
    fields[name] = value.as_string();
  }
  for (const char* name : {"id", "name", "label"}) {
    if (fields[name].empty() && !is("accepts_anything"))
      return bad(std::string("spec.") + name, "is empty");
  }
  if (!d.key.id.empty() && d.key.id != fields["id"]) return bad("id", "is not the one in the spec");
  if (!d.state.empty() && d.state != "running") return bad("state", "is not known");
  out.annotations = d.annotations;
  std::sort(out.annotations.begin(), out.annotations.end());
  for (size_t n = 1; n < out.annotations.size(); ++n) {
    if (out.annotations[n].first == out.annotations[n - 1].first)
      return bad("annotations", "has a key twice");
  }
  out.key = {d.key.kind, d.key.region, fields["id"]};
  out.ns = "apps";
  out.name = fields["name"];
  out.state = "running";
  out.json = is("bytewise") ? d.spec : json::serialize(json::value_from(fields));
  out.payload = out.json;
  return out;
}

void Store::check_expected(Wanted& w, const Record* stored) const {
  const Version expect = w.document.expect;
  if (expect == any_version || is("ignores_expect")) return;
  const bool none = is("the_dead_exist") ? stored == nullptr : is_dead(stored);
  if (expect == 0 ? none : stored != nullptr && stored->version == expect) return;
  if (is("same_needs_no_expect") && w.outcome == "unchanged") return;
  w.version = is_dead(stored) || is("hides_actual") ? 0 : stored->version;
  w.error = Error{Code::aborted, "has another version", "expect"};
}

void Store::decide(Wanted& w, const std::string& author) const {
  const Record* stored = find(w.record.key);
  if (w.document.remove) {
    w.outcome = is_dead(stored) ? "absent" : "deleted";
    if (stored != nullptr) w.record = *stored;
    w.record.state = "deleted";
    w.record.live = false;
  } else {
    const bool same = !is_dead(stored) && stored->json == w.record.json &&
                      stored->annotations == w.record.annotations;
    w.outcome = is_dead(stored) ? "created" : same ? "unchanged" : "changed";
  }
  w.version = stored == nullptr ? 0 : stored->version;
  w.record.author = is("no_author") ? "naive" : author;
  check_expected(w, stored);
}

void Store::check_names(std::vector<Wanted>& group) const {
  std::set<Key> deleted;
  for (auto& w : group) {
    if (w.document.remove) deleted.insert(w.record.key);
    if (w.document.remove || w.error) continue;
    for (const auto& [key, other] : records_) {
      const bool other_has_it = other.live && other.name == w.record.name && key != w.record.key &&
                                key.region == w.record.key.region;
      if (other_has_it && !deleted.contains(key))
        w.error = Error{Code::already_exists, "its name is taken", key.id};
    }
  }
}

std::vector<Store::Wanted> Store::judged(const records::Apply& request) const {
  std::vector<Wanted> group;
  std::set<Key> once;
  for (const Document& d : request.documents) {
    Wanted& w = group.emplace_back(Wanted{d, {}, {}, {}});
    w.record.key = d.key;
    if (d.remove) {
      if (!d.spec.empty()) w.error = bad("spec", "a delete has none");
    } else if (auto record = validated(d); record.ok()) {
      w.record = *record;
    } else {
      w.error = record.error();
    }
    if (!w.error && !once.insert(w.record.key).second && !is("twins_pass"))
      w.error = bad("id", "is there twice");
    if (request.author.empty() && !is("no_author")) w.error = bad("author", "is empty");
    if (request.request_id.size() > 253 || request.request_id.find('\n') != std::string::npos)
      w.error = bad("request_id", "cannot be");
    if (!w.error) decide(w, request.author);
  }
  check_names(group);
  return group;
}

// The results of a group, which is committed when nothing is at fault.
records::AppliedList Store::results(std::vector<Wanted>& group, bool commit) {
  const auto culprit =
      std::find_if(group.begin(), group.end(), [](const Wanted& w) { return w.error; });
  const bool refused = culprit != group.end();
  records::AppliedList out;
  for (auto& w : group) {
    auto& result = out.emplace_back(records::Applied{w.record.key, {}, {incarnation, w.version}});
    if (w.error) {
      result.error = w.error;
    } else if (refused && !is("splits_groups")) {
      const std::string which = "documents[" + std::to_string(culprit - group.begin()) + "]";
      result.error = Error{culprit->error->code, which + " is refused",
                           is("blames_all") ? culprit->error->where : which};
    } else {
      result.outcome = w.outcome;
      const bool changes = w.outcome != "unchanged" && w.outcome != "absent";
      if (changes && commit) {
        w.record.version = ++head_;
        records_[w.record.key] = w.record;
        result.at.version = head_;
      } else if (changes) {
        result.at.version = 0;
      }
    }
  }
  if (is("reverses_results")) std::reverse(out.begin(), out.end());
  return out;
}

records::AppliedList Store::apply(const records::Apply& request) {
  const std::lock_guard lock(mutex_);
  const std::pair id(is("ids_of_all") ? "" : request.author, request.request_id);
  const bool has_id = !request.request_id.empty() && !request.dry_run && !is("forgets_requests");
  auto group = judged(request);
  const bool unmet = std::any_of(group.begin(), group.end(), [](const Wanted& w) {
    return w.error && w.error->code == Code::aborted;
  });
  const auto before = answered_.find(id);
  if (has_id && before != answered_.end() && !(is("expects_first") && unmet)) {
    if (before->second.content == content_of(request) || is("any_content"))
      return before->second.results;
    for (auto& w : group)
      w.error = Error{Code::failed_precondition, "was used for something else", "request_id"};
  }
  const auto out = results(group, !request.dry_run || is("dry_run_commits"));
  const bool committed = std::none_of(out.begin(), out.end(), [](auto& r) { return r.error; });
  if (has_id && committed) answered_[id] = {content_of(request), out};
  return out;
}

Result<records::Found> Store::get(const Query& query) const {
  const Key& key = query.key;
  if (key.kind.empty() || key.region.empty() || (key.id.empty() && query.name.empty()))
    return bad("key", "is not whole");
  const std::lock_guard lock(mutex_);
  records::Found out;
  out.head = out.next = {incarnation, head_};
  for (const auto& [at, r] : records_) {
    if (at.kind != key.kind || at.region != key.region) continue;
    const bool named = r.name == query.name && (query.ns.empty() || query.ns == r.ns) &&
                       (r.live || is("names_the_dead"));
    if (key.id.empty() ? named : at.id == key.id) out.records.push_back(r);
  }
  if (is("reads_late") && !out.records.empty() && out.records[0].version == head_)
    out.records.clear();
  return out;
}

std::optional<Record> Store::next(const records::Read& read, Version above,
                                  Version dead_after) const {
  const std::lock_guard lock(mutex_);
  const Record* best = nullptr;
  for (const auto& [key, r] : records_) {
    const bool wanted = (read.kind.empty() || key.kind == read.kind) &&
                        (read.region.empty() || key.region == read.region || is("any_region"));
    const bool left_out = r.state == "deleted" && r.version <= dead_after;
    if (wanted && !left_out && r.version > above && (best == nullptr || r.version < best->version))
      best = &r;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

Result<records::Found> Store::list(const records::Read& read) const {
  if (!read.kind.empty() && read.kind != "widget") return bad("kind", "is not known");
  if (auto r = known(read.after); !r.ok()) return r.error();
  records::Found out;
  const Version at = head();
  const Version dead_after = read.deleted || is("lists_the_dead") ? Version() : Version::max();
  Version above = read.after.version;
  while (out.records.size() < read.limit) {
    auto r = next(read, above, dead_after);
    if (!r) break;
    above = r->version;
    out.records.push_back(std::move(*r));
  }
  out.more = next(read, above, dead_after).has_value();
  if (is("repeats_the_last") && out.more) above = above - 1;
  out.head = {incarnation, at};
  out.next = {incarnation, out.more ? above : at};
  return out;
}

}  // namespace davit::naive
