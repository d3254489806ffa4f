#include "ctrl_report.hpp"

#include <ctrl/v1/cluster.pb.h>

#include <set>

#include <davit/storage_domain.hpp>

#include "admission.hpp"
#include "davit_ctrl_descriptors.h"
#include "envelope.hpp"
#include "serve_in_turn.hpp"
#include "wanted.hpp"

namespace davit::recorder {

Result<std::vector<Record>> find_records(const storage::Client& storage, const std::string& kind,
                                         const std::string& region, const Named& named) {
  std::vector<Record> found;
  auto head =
      storage.get({{kind, region, named.id}, named.ns, named.name}, [&](const davit_record& r) {
        found.push_back(from_abi(r));
        return true;
      });
  if (!head.ok()) return head.error();
  const std::string what = kind + " \"" + (named.id.empty() ? named.name : named.id) + "\"";
  // A deleted record keeps its name until another record takes it. A report means the live one.
  const bool live = std::any_of(found.begin(), found.end(), [](const Record& r) { return r.live; });
  if (live) std::erase_if(found, [](const Record& r) { return !r.live; });
  if (found.empty()) return Error{Code::not_found, "no " + what + " in region \"" + region + "\""};
  std::set<std::string> namespaces;
  for (const Record& r : found) namespaces.insert(r.ns);
  if (namespaces.size() > 1) {
    return Error{Code::failed_precondition,
                 what + " exists in " + std::to_string(namespaces.size()) + " namespaces"};
  }
  return found;
}

namespace {

// Decodes a report with the kind's help, on its pool.
Result<Reported> decode(const kind::Client& kind, const Schema& schema, std::string_view request) {
  auto json = schema.to_json(kind.description().ctrl_v1->report_type, request);
  if (!json.ok()) return Error{Code::invalid_argument, "the request cannot be decoded"};
  auto reported = kind.from_report(*json);
  if (!reported.ok() && retryable(reported.error().code))
    return reported.error().in("kind " + kind.kind());
  if (!reported.ok()) return reported.error();
  return Reported{std::move(reported->first), std::move(reported->second)};
}

// A Davit agent also sends the record's id, because another record may have the name by now. The id
// decides unless its record has another name.
Result<std::vector<Record>> records_meant(const storage::Client& storage, const std::string& kind,
                                          const std::string& region, const Named& named,
                                          const std::string& id) {
  if (id.empty()) return find_records(storage, kind, region, named);
  auto found = find_records(storage, kind, region, {id, {}, {}});
  if (!found.ok() || found->front().name.empty() || found->front().name == named.name) return found;
  return find_records(storage, kind, region, named);
}

// A report with its epoch and sequence, and with what the header x-davit-observed adds.
struct Arrival {
  Status status;
  bool own_epoch = false;   // the peer gave the epoch
  bool own_counts = false;  // the peer is a Davit agent, which gives all counts
};

// A Krane agent has no epoch and no sequence. Its reports are ordered by arrival, and are newer
// than those of a Davit agent that worked before it.
Status arrival_stamp(Shared& shared) {
  Status out;
  out.sequence = shared.next_sequence();
  out.epoch = Epoch(out.sequence / 1000);
  out.reported_at_unix_ms = shared.host.unix_ms();
  return out;
}

Arrival arrive(const Shared& shared, const Status& stamp, Status reported,
               const std::string& observed) {
  Arrival out{std::move(reported), false, !observed.empty()};
  out.status.sequence = stamp.sequence;
  out.status.epoch = stamp.epoch;
  out.status.reported_at_unix_ms = stamp.reported_at_unix_ms;
  const Status before = out.status;
  apply_observed_header(observed, out.status);
  out.own_epoch = out.status.epoch != before.epoch;
  // The header is optional: if its numbers are impossible, all of it is ignored.
  if (!admit_numbers(out.status, shared.limits, before.reported_at_unix_ms).ok()) {
    out.status = before;
    out.own_epoch = out.own_counts = false;
  }
  cut_to(shared.limits.status, out.status);
  return out;
}

// A report on its way: the kind reads it, the store finds its records, the kind says what should
// run when the peer does not, and the store takes the statuses.
struct CtrlReport {
  Shared& shared;
  const kind::Client kind;
  const Schema schema;
  const std::string region, observed;
  const Buffer message;
  const Operation caller;
  Status stamp;  // of the arrival
  rpc::Server::Reply reply{};
  Named named{};
  Arrival arrival{};
  std::vector<Record> records{};
};
using ReportPtr = std::shared_ptr<CtrlReport>;

// The kind cannot read the report now, or cannot say what the record asks for. `davit status` shows
// it.
void note_delay(const CtrlReport& report, const Key& key, Version version, const Error& why) {
  if (!retryable(why.code)) return;
  const Host& host = report.shared.host;
  report.shared.delays.note(key, Delay::report, version, why.message, host.unix_ms());
}

// Of which record the report is, as far as a Davit agent says so in its header.
Key key_said(const CtrlReport& report) {
  Status said;
  apply_observed_header(report.observed, said);
  return {report.kind.kind(), report.region, said.key.id};
}

// A Krane agent reports what runs. What should run comes from the record.
Result<> complete(const CtrlReport& report, const Record& record, Status& s) {
  if (!record.live) {
    s.desired = 0;
    s.gone = s.gone || (s.ready == 0 && s.children.empty());
    return {};
  }
  const auto wanted = wanted_of(report.kind, report.schema, record);
  if (!wanted.ok()) return wanted.error();
  if (!*wanted) return {};
  s.desired = **wanted;
  if (s.ready < **wanted && s.health == "healthy") s.health = "progressing";
  return {};
}

// Runs on the kind's pool if there is something to ask the kind, else on the storage's.
void store_report(const ReportPtr& report) {
  std::vector<Status> statuses;
  for (const Record& record : report->records) {
    Status& status = statuses.emplace_back(report->arrival.status);
    status.key = record.key;
    if (report->arrival.own_counts) continue;
    if (auto r = complete(*report, record, status); !r.ok()) {
      note_delay(*report, record.key, record.version, r.error());
      return report->reply(r.error());
    }
  }
  Shared& shared = report->shared;
  for (const Record& record : report->records) shared.delays.over(record.key, Delay::report);
  shared.storage.under(report->caller)
      .report(statuses, [report, ticket = shared.outstanding.begin()](Result<> r) {
        if (!r.ok()) {
          report->shared.failed(r.error());
          return report->reply(r.error());
        }
        report->shared.statuses.add();
        report->reply(std::string());  // all report responses are empty messages
      });
}

// Runs on the storage's pool.
void find_its_records(const ReportPtr& report) {
  Shared& shared = report->shared;
  Status& status = report->arrival.status;
  auto records = records_meant(shared.storage.under(report->caller), report->kind.kind(),
                               report->region, report->named, status.key.id);
  if (!records.ok()) {
    // No record, or several: the store has answered.
    const Code code = records.error().code;
    if (code != Code::not_found && code != Code::failed_precondition)
      shared.failed(records.error());
    return report->reply(records.error());
  }
  report->records = std::move(*records);
  if (!report->arrival.own_epoch)
    status.epoch = std::max(status.epoch, shared.epoch_above(report->region));
  if (report->arrival.own_counts) return store_report(report);
  shared.host.blocking(report->kind.instance(), [report] { store_report(report); });
}

// Runs on the kind's pool.
void read_report(const ReportPtr& report) {
  auto reported = decode(report->kind, report->schema, report->message.view());
  if (!reported.ok()) {
    note_delay(*report, key_said(*report), 0, reported.error());
    return report->reply(reported.error());
  }
  report->shared.delays.over({report->kind.kind(), report->region, {}}, Delay::report);
  report->named = std::move(reported->named);
  report->arrival =
      arrive(report->shared, report->stamp, std::move(reported->status), report->observed);
  report->shared.knowing_epochs([report](const Result<>& known) {
    if (!known.ok()) return report->reply(known.error());
    find_its_records(report);
  });
}

// Waits for its turn among the reports of its region and kind: a kind that takes long keeps its own
// reports waiting.
void read_in_turn(const ReportPtr& report, const Turns::Ask& ask, rpc::Server::Reply reply) {
  report->shared.kind_turns.in_turn(ask, reply, [report](rpc::Server::Reply ends) {
    report->reply = std::move(ends);
    report->shared.host.blocking(report->kind.instance(), [report] { read_report(report); });
  });
}

}  // namespace

Result<> serve_ctrl_report(Shared& shared, const rpc::Server& server, const kind::Client& kind) {
  const auto& description = kind.description();
  if (!description.ctrl_v1 || description.ctrl_v1->report.empty()) return {};
  auto schema = kind.schema(shared.host);
  if (!schema.ok()) return schema.error();
  const rpc::Method method{.path = "ctrl.v1.ClusterService/" + description.ctrl_v1->report,
                           .request_type = description.ctrl_v1->report_type,
                           .response_type = description.ctrl_v1->report_response_type,
                           .descriptor_set = description.descriptor_set,
                           .role = "agent"};
  return server.unary(method, [&shared, kind, schema = *schema](rpc::Call call, Buffer request,
                                                                rpc::Server::Reply reply) {
    auto region = rpc::authorized_region(call);
    if (!region.ok()) return reply(region.error());
    const Turns::Ask ask = ask_of(shared, call, *region, request.size(), Counts::bytes);
    const auto report = std::make_shared<CtrlReport>(
        CtrlReport{shared, kind, schema, *region, call.metadata("x-davit-observed"),
                   std::move(request), call.operation(), arrival_stamp(shared)});
    Turns::Ask of_kind = ask;
    of_kind.region += "/" + kind.kind();
    // The region's turn keeps the pace, and ends before the kind is asked.
    shared.turns.in_turn(
        ask,
        [report, of_kind, reply](Result<std::string> passed) {
          if (!passed.ok()) return reply(std::move(passed));
          read_in_turn(report, of_kind, reply);
        },
        [](const rpc::Server::Reply& ends) { ends(std::string()); });
  });
}

namespace {

// Before the agent takes a place: another one might have to give way to a name that no store keeps.
Result<> admit_heartbeat(const Progress& said) {
  auto e = storage::outside(said);
  if (!e) return {};
  if (e->where == "agent")
    e->message = "the name \"platform/region\" " + e->message + ": name the platform shorter";
  return *e;
}

}  // namespace

Result<> serve_heartbeat(Shared& shared, const rpc::Server& server) {
  const rpc::Method method{.path = "ctrl.v1.ClusterService/Heartbeat",
                           .request_type = "ctrl.v1.HeartbeatRequest",
                           .response_type = "ctrl.v1.HeartbeatResponse",
                           .descriptor_set = davit_ctrl_descriptors(),
                           .role = "agent"};
  return server.unary(method, [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
    ::ctrl::v1::HeartbeatRequest message;
    if (!message.ParseFromArray(request.view().data(), static_cast<int>(request.size()))) {
      return reply(Error{Code::invalid_argument, "the request cannot be decoded"});
    }
    // Only this method has its region in the message and not in a header.
    if (auto r = check_name("region", message.region()); !r.ok()) return reply(r.error());
    const rpc::Identity who = call.identity();
    if (!rpc::names_region(who.regions, message.region())) {
      return reply(Error{
          Code::permission_denied,
          "region \"" + message.region() + "\" is not one that token \"" + who.name + "\" names"});
    }
    const std::string platform = message.platform().empty() ? "unknown" : message.platform();
    if (auto r = check_name("platform", platform); !r.ok()) return reply(r.error());
    const Progress progress{
        message.region(),     platform + "/" + message.region(), "ctrl.v1", Epoch(), {}, {},
        shared.host.unix_ms()};
    if (auto r = admit_heartbeat(progress); !r.ok()) return reply(r.error());
    const Turns::Ask ask =
        ask_of(shared, call, progress.region, request.size(), Counts::transaction);
    shared.turns.in_turn(
        ask, reply, [&shared, caller = call.operation(), progress](const rpc::Server::Reply& ends) {
          shared.host.blocking(shared.storage.instance(), [&shared, caller, progress, ends] {
            // The response has no fields.
            shared.progress(
                caller, progress, [](Epoch) { return std::string(); }, ends);
          });
        });
  });
}

}  // namespace davit::recorder
