// A value of each type that crosses the ABI, in which every field is set and no two fields are
// equal, and words(), which writes a value with every field.
#pragma once

#include <davit/actuator.hpp>
#include <davit/cluster.hpp>
#include <davit/kind_needs.hpp>
#include <davit/records_role.hpp>
#include <davit/rpc.hpp>
#include <davit/secrets.hpp>
#include <davit/sink.hpp>
#include <davit/storage.hpp>
#include <davit/storage_copy.hpp>
#include <davit/storage_intents.hpp>
#include <davit/storage_schema.hpp>

namespace davit::test::values {

inline const Head head{{11, 12}, 13, 14};
inline const storage::Limits limits{15, 16, 17, 18, 19};
inline const storage::Copied copied{21, {22, 23}};

inline Record record() {
  return {{"k", "r", "i"}, "ns", "n", "running", 31,  true,
          "pay",           "{}", 32,  "me",      "q", {{"a", "b"}}};
}
inline Group group() {
  return {{{record(), 41}, {record(), 42, 43}}, "request", 44};
}
inline GroupResult result() {
  return {50, 51, 52, Error{Code::aborted, "no", "there", std::chrono::milliseconds(53)}};
}
inline Status status() {
  return {{"k", "r", "i"},
          true,
          61,
          62,
          "healthy",
          63,
          64,
          65,
          66,
          "said",
          "parked",
          {{"c", "addr", "running", 67, 68}, {"d", "", "failed", 69, 70}},
          "{\"x\":1}",
          71,
          72,
          73,
          74,
          "ns",
          "n"};
}
inline Issue issue() {
  return {"k", "i", "ns", "n", 81, "held", "because", 82};
}
inline KindProgress kind_progress() {
  return {"k", {91, 92}};
}
inline Progress progress() {
  return {"r", "agent", "davit", 101, {kind_progress(), kind_progress()}, {issue(), issue()}, 102};
}
inline Named named() {
  return {"i", "ns", "n"};
}
inline kind::Description description() {
  kind::Description out;
  out.kind = "k";
  out.apply_type = "T";
  out.descriptor_set = bytes("set");
  out.json_fields = {"T.a", "T.b"};
  const kind::Resource one{DAVIT_RESOURCE_SEEN, "g", "v", "rs", "R", true, "l", {"/a", "/b"}};
  const kind::Resource two{DAVIT_RESOURCE_OWNED, "h", "w", "ss", "S", false, "m", {}};
  out.resources = {one, two};
  out.ctrl_v1 = kind::CtrlV1{"w", "g", "p", "st", "wt", "gt", "rt", "rrt"};
  out.default_state = "on";
  out.columns = {{DAVIT_COLUMN_DETAIL, "C", "/c", "date", 83},
                 {DAVIT_COLUMN_SPEC, "D", "/d", "number", 84}};
  return out;
}
inline kind::Need need() {
  return {"g", "v", "rs", "n", {"get", "list"}, "x = 1"};
}
inline cluster::Response response() {
  return {Code::aborted, 409,         std::chrono::milliseconds(111), "Conflict", "said",
          "{}",          {{"h", "v"}}};
}

inline records::Apply apply() {
  return {{{{"k", "r", "i"}, "on", "{}", {{"a", "b"}}, 291}, records::deletion({"k", "r", "j"})},
          "request",
          true,
          "me",
          301};
}
inline records::Applied applied() {
  return {{"k", "r", "i"}, "created", {292, 293}};
}
inline storage::Intent intent() {
  return {302, "{\"kind\": 1}", "alice"};
}
inline storage::IntentOutcome outcome() {
  return {303, Error{Code::aborted, "no", "there"}, {304, 305}};
}
inline records::Read records_read() {
  return {"k", "r", {294, 295}, 296, true};
}
inline records::Found found() {
  return {{record(), record()}, true, {297, 298}, {299, 300}};
}

using Words = std::string;
inline Words words(const std::string& s) {
  return "'" + s + "'";
}
inline Words words(bool b) {
  return b ? "true" : "false";
}
template <class T>
Words words(T number) requires std::is_integral_v<T> {
  return std::to_string(number);
}
template <class Purpose>
Words words(Number<Purpose> number) {
  return to_string(number);
}
inline Words words(const Pairs& pairs) {
  Words out = "{";
  for (const auto& [key, value] : pairs) out += key + "=" + value + ";";
  return out + "}";
}
// Defined behind all others, which they call.
template <class A, class B, class... Rest>
Words words(const A& a, const B& b, const Rest&... rest);
template <class T>
Words words(const std::vector<T>& all);
inline Words words(const Key& k) {
  return words(k.kind, k.region, k.id);
}
inline Words words(const Cursor& c) {
  return words(c.incarnation, c.version);
}
inline Words words(const Named& n) {
  return words(n.id, n.ns, n.name);
}
inline Words words(const Error& e) {
  return words(static_cast<int>(e.code), e.message, e.where, e.retry_after.count());
}
inline Words words(const Head& h) {
  return words(h.head, h.status_head, h.purged_through);
}
inline Words words(const Scope& s) {
  return words(s.kind, s.region);
}
inline Words words(const ReadRequest& q) {
  return words(q.scope, q.cursor, q.dead_after, q.limit, q.bytes_max, q.lingering, q.no_payload);
}
inline Words words(const Page& p) {
  return words(p.more, p.next_version, p.head);
}
inline Words words(const StatusRead& q) {
  return words(q.scope, q.cursor, q.limit, q.bytes_max);
}
inline Words words(const StatusPage& p) {
  return words(p.more, p.next, p.head);
}
inline Words words(const AgentRead& q) {
  return words(q.region, q.after_region, q.after_agent, q.limit);
}
inline Words words(const storage::Limits& l) {
  return words(l.group_records, l.record_bytes, l.group_bytes, l.report_statuses, l.report_bytes);
}
inline Words words(const secrets::Item& i) {
  return words(i.type, i.keyring, i.ciphertext, i.ref, i.field, i.version);
}
inline actuator::Call call() {
  return {"ns", "n", "uid", "{}", {}};
}
inline actuator::Outcome built() {
  return {std::nullopt, std::chrono::milliseconds(281), "{\"status\":1}", "Token", "waits"};
}
inline Words words(const actuator::Call& c) {
  return words(c.ns, c.name, c.uid, c.cluster);
}
inline Words words(const actuator::Event& e) {
  return words(e.warning, e.reason, e.message);
}
inline Words words(const actuator::Outcome& o) {
  return words(o.requeue_after.count(), o.status_patch, o.error_reason, o.progress);
}
inline Words words(const Query& q) {
  return words(q.key, q.ns, q.name);
}
inline Words words(const GetRequest& q) {
  return words(q.queries, q.no_payload);
}
inline Words words(const Record& r) {
  return words(r.key, r.ns, r.name, r.state, r.version, r.live, r.payload, r.json,
               r.committed_at_unix_ms, r.author, r.request_id, r.annotations);
}
inline Words words(const Mutation& m) {
  return words(m.record, m.expect, m.expect_incarnation);
}
inline Words words(const Group& g) {
  return words(g.mutations, g.request_id, g.intent);
}
inline Words words(const GroupResult& r) {
  return words(r.incarnation, r.first_version, r.actual_version) +
         (r.error ? " " + words(*r.error) : "");
}
inline Words words(const storage::Intent& i) {
  return words(i.id, i.document, i.author);
}
inline Words words(const storage::IntentOutcome& o) {
  return words(o.id, o.at) + (o.error ? " " + words(*o.error) : "");
}
inline Words words(const records::Document& d) {
  return words(d.key, d.state, d.spec, d.annotations, d.expect, d.remove);
}
inline Words words(const records::Apply& a) {
  return words(a.documents, a.request_id, a.dry_run, a.author, a.intent);
}
inline Words words(const records::Applied& a) {
  return words(a.key, a.outcome, a.at) + (a.error ? " " + words(*a.error) : "");
}
inline Words words(const records::Read& q) {
  return words(q.kind, q.region, q.after, q.limit, q.deleted);
}
inline Words words(const records::Found& f) {
  return words(f.records, f.more, f.next, f.head);
}
inline Words words(const Child& c) {
  return words(c.name, c.address, c.status, c.cpu_millicores, c.memory_mib);
}
inline Words words(const Status& s) {
  return words(s.key, s.gone, s.observed_version, s.observed_incarnation, s.health, s.desired,
               s.updated, s.ready, s.stale, s.message, s.parked, s.children, s.detail, s.epoch,
               s.sequence, s.status_version, s.reported_at_unix_ms, s.ns, s.name);
}
inline Words words(const Issue& i) {
  return words(i.kind, i.id, i.ns, i.name, i.version, i.condition, i.reason, i.incarnation);
}
inline Words words(const KindProgress& p) {
  return words(p.kind, p.applied);
}
inline Words words(const Progress& p) {
  return words(p.region, p.agent, p.software, p.epoch, p.kinds, p.issues, p.seen_at_unix_ms);
}
inline Words words(const storage::Maintain& m) {
  return words(m.purge, m.purge_through, m.forget.region, m.forget.agent, m.forget.seen_at_unix_ms);
}
inline Words words(const storage::Copied& c) {
  return words(c.bytes, c.head);
}
inline Words words(const kind::Resource& r) {
  return words(r.role, r.group, r.version, r.resource, r.kind, r.namespaced, r.selector, r.keep);
}
inline Words words(const kind::CtrlV1& c) {
  return words(c.watch, c.get, c.report, c.state_type, c.watch_type, c.get_type, c.report_type,
               c.report_response_type);
}
inline Words words(const kind::Column& c) {
  return words(c.source, c.name, c.path, c.type, c.priority);
}
inline Words words(const kind::Description& d) {
  return words(d.kind, d.apply_type, Words(view(d.descriptor_set)), d.json_fields, d.resources,
               *d.ctrl_v1, d.default_state, d.columns);
}
inline Words words(const kind::Need& n) {
  return words(n.group, n.version, n.resource, n.name, n.verbs, n.setting);
}
inline Words words(const cluster::Resource& r) {
  return words(r.group, r.version, r.resource);
}
inline Words words(const cluster::Request& q) {
  return words(q.verb, q.resource, q.ns, q.name, q.subresource, q.query, q.headers, q.body,
               q.deadline_ns);
}
inline Words words(const cluster::Response& r) {
  return words(static_cast<int>(r.code), r.http_status, r.retry_after.count(), r.reason, r.message,
               r.body, r.headers);
}
inline Words words(const cluster::WatchRequest& q) {
  return words(q.resource, q.metadata_only, q.ns, q.label_selector, q.field_selector,
               q.resource_version);
}
inline Words words(const sink::Change& c) {
  return words(static_cast<int>(c.type), c.key, c.ns, c.name, c.version, Words(c.payload.view()),
               c.state, c.annotations);
}
inline Words words(const sink::Begin& b) {
  return words(b.snapshot, b.at, b.history);
}
inline Words words(const sink::Bookmark& b) {
  return words(b.snapshot_end, b.live_count.value_or(0), b.at, b.quiet);
}
inline Words words(const rpc::End& e) {
  Words out = words(static_cast<int>(e.code), e.message, e.trailers);
  for (const auto& d : e.details) out += " " + words(d.type, d.value);
  return out;
}

template <class A, class B, class... Rest>
Words words(const A& a, const B& b, const Rest&... rest) {
  Words out = words(a) + " " + words(b);
  ((out += " " + words(rest)), ...);
  return out;
}
template <class T>
Words words(const std::vector<T>& all) {
  Words out = "[";
  for (const auto& one : all) out += words(one) + ";";
  return out + "]";
}
}  // namespace davit::test::values
