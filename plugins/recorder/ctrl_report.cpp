#include "ctrl_report.hpp"

#include <ctrl/v1/cluster.pb.h>

#include <set>

#include "davit_ctrl_descriptors.h"
#include "envelope.hpp"

namespace davit::recorder {
namespace {

constexpr std::chrono::seconds epochs_age_max{1};

}  // namespace

Shared::Shared(Host h, storage::Client s, std::chrono::milliseconds agents_stale_after)
    : host(h),
      storage(std::move(s)),
      agents(h, storage, outstanding, agents_stale_after),
      statuses(host.counter("davit_recorder_statuses_total", "Statuses handed to the store.")),
      refused(host.counter("davit_recorder_refused_total", "Statuses that were refused.")),
      errors(
          host.counter("davit_recorder_storage_errors_total", "Calls of the store that failed.")) {}

uint64_t Shared::next_sequence() {
  const auto now = static_cast<uint64_t>(host.unix_ms()) * 1000;
  uint64_t last = sequence.load();
  uint64_t next = 0;
  do {
    next = std::max(last + 1, now);
  } while (!sequence.compare_exchange_weak(last, next));
  return next;
}

void Shared::progress(const Progress& said, const std::function<std::string(uint64_t)>& answer,
                      const rpc::Server::Reply& reply) {
  // What is stored takes the place of what the same agent said before, and is all that a later
  // process of the server knows: an epoch that was taken stays, whether the answer arrives or not.
  const auto taken = epoch_taken(said);
  Progress kept = said;
  if (taken.ok()) kept.epoch = std::max(said.epoch, *taken);
  auto stored = taken.ok() ? storage.progress(kept) : Result<>(taken.error());
  if (!stored.ok()) {
    errors.add();
    return reply(stored.error());
  }
  reply(answer(*taken));
  agents.heard(said);
}

// The store is asked only about a newcomer, and not about each when many come together.
Result<uint64_t> Shared::epoch_taken(const Progress& said) {
  std::lock_guard lock(epochs_mutex_);
  if (said.epoch == 0 || epochs_.known(said)) return 0;  // 0: a peer that has none
  const auto now = host.now();
  if (!epochs_read_at_ || now - *epochs_read_at_ > epochs_age_max) {
    auto r = storage.agents([this](const davit_progress& p) {
      epochs_.heard(from_abi(p));
      return true;
    });
    if (!r.ok()) return r.error();
    epochs_read_at_ = now;
  }
  const uint64_t taken = epochs_.taken(said);
  epochs_.heard(said);
  return taken;
}

Result<std::vector<Key>> find_records(const storage::Client& storage, const std::string& kind,
                                      const std::string& region, const Named& named) {
  std::vector<Record> found;
  auto head =
      storage.get({{kind, region, named.id}, named.ns, named.name}, [&](const davit_record& r) {
        found.push_back(from_abi(r));
        return true;
      });
  if (!head.ok()) return head.error();
  const std::string what = kind + " \"" + (named.id.empty() ? named.name : named.id) + "\"";
  // A dead record keeps its name until a live one takes it over; a report means the live one.
  const bool live = std::any_of(found.begin(), found.end(), [](const Record& r) { return r.live; });
  if (live) std::erase_if(found, [](const Record& r) { return !r.live; });
  if (found.empty())
    return Error{Code::not_found, "no " + what + " in region \"" + region + "\"", {}, {}};
  std::set<std::string> namespaces;
  for (const Record& r : found) namespaces.insert(r.ns);
  if (namespaces.size() > 1) {
    return Error{Code::failed_precondition,
                 what + " exists in " + std::to_string(namespaces.size()) + " namespaces",
                 {},
                 {}};
  }
  std::vector<Key> keys;
  for (Record& r : found) keys.push_back(std::move(r.key));
  return keys;
}

namespace {

// The report's bytes as the kind understands them.
Result<Reported> decode(const kind::Client& kind, const Schema& schema, std::string_view request) {
  auto json = schema.to_json(kind.description().ctrl_v1->report_type, request);
  if (!json.ok()) return Error{Code::invalid_argument, "the request cannot be decoded", {}, {}};
  auto reported = kind.from_report(*json);
  if (!reported.ok()) return reported.error();
  return Reported{std::move(reported->first), std::move(reported->second)};
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
    auto reported = decode(kind, schema, request.view());
    if (!reported.ok()) return reply(reported.error());
    Status status = std::move(reported->status);
    // A Krane agent counts nothing: its reports are in order of arrival, and newer than those of an
    // agent of ours that was there before it.
    status.sequence = shared.next_sequence();
    status.epoch = status.sequence / 1000;
    status.reported_at_unix_ms = shared.host.unix_ms();
    apply_observed_header(call.metadata("x-davit-observed"), status);

    auto ticket = shared.outstanding.begin();
    shared.host.blocking(
        shared.storage.instance(),
        [&shared, kind_name = kind.kind(), region = *region, named = reported->named,
         status = std::move(status), reply = std::move(reply), ticket]() mutable {
          auto keys = find_records(shared.storage, kind_name, region, named);
          if (!keys.ok()) {
            if (keys.error().code != Code::not_found) shared.errors.add();
            return reply(keys.error());
          }
          std::vector<Status> statuses(keys->size(), status);
          for (size_t i = 0; i < statuses.size(); ++i) statuses[i].key = std::move((*keys)[i]);
          shared.storage.report(statuses, [&shared, reply = std::move(reply), ticket](Result<> r) {
            if (!r.ok()) {
              shared.errors.add();
              return reply(r.error());
            }
            shared.statuses.add();
            reply(std::string());  // all report responses are empty messages
          });
        });
  });
}

Result<> serve_heartbeat(Shared& shared, const rpc::Server& server) {
  const rpc::Method method{.path = "ctrl.v1.ClusterService/Heartbeat",
                           .request_type = "ctrl.v1.HeartbeatRequest",
                           .response_type = "ctrl.v1.HeartbeatResponse",
                           .descriptor_set = davit_ctrl_descriptors(),
                           .role = "agent"};
  return server.unary(method, [&shared](rpc::Call call, Buffer request, rpc::Server::Reply reply) {
    ::ctrl::v1::HeartbeatRequest message;
    if (!message.ParseFromArray(request.view().data(), static_cast<int>(request.size()))) {
      return reply(Error{Code::invalid_argument, "the request cannot be decoded", {}, {}});
    }
    // Of all methods only this one states its region in the message.
    if (auto r = check_name("region", message.region()); !r.ok()) return reply(r.error());
    const rpc::Identity who = call.identity();
    if (!rpc::names_region(who.regions, message.region())) {
      return reply(Error{
          Code::permission_denied,
          "region \"" + message.region() + "\" is not one that token \"" + who.name + "\" names",
          {},
          {}});
    }
    const std::string platform = message.platform().empty() ? "unknown" : message.platform();
    if (auto r = check_name("platform", platform); !r.ok()) return reply(r.error());
    const Progress progress{
        message.region(),     platform + "/" + message.region(), "ctrl.v1", 0, {}, {},
        shared.host.unix_ms()};
    shared.host.blocking(shared.storage.instance(), [&shared, progress, reply = std::move(reply),
                                                     ticket = shared.outstanding.begin()] {
      // The response has no fields.
      shared.progress(
          progress, [](uint64_t) { return std::string(); }, reply);
    });
  });
}

}  // namespace davit::recorder
