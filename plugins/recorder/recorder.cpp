// The plugin `recorder`: stores what agents report. README.md lists the settings.
#include <davit/v1/agent.pb.h>

#include <davit/kinds.hpp>
#include <davit/required_features.hpp>

#include "admission.hpp"
#include "ctrl_report.hpp"
#include "davit_wire_descriptors.h"
#include "envelope.hpp"
#include "message_count.hpp"
#include "serve_in_turn.hpp"
#include "slices.hpp"

namespace davit::recorder {

// The bytes that a status counts as at least, in its region's pace.
constexpr size_t status_work = 256;

class Recorder {
 public:
  using roles = Roles<DelaysRole>;

  explicit Recorder(Host host) : host_(host) {
    const Settings settings(host);
    storage_name_ = settings.string("storage");
    agent_stale_after_ =
        settings.milliseconds("agent_stale_after_ms", std::chrono::minutes(10), 1000);
    const auto count = [&settings](const char* key, size_t& value, int64_t max, int64_t min = 1) {
      value = static_cast<size_t>(settings.integer(key, static_cast<int64_t>(value), min, max));
    };
    count("agents_max", limits_.agents, 1'000'000);
    count("agents_per_region_max", limits_.agents_a_region, 10'000);
    count("issues_per_agent_max", limits_.issues, 1'000'000);
    count("statuses_per_call_max", limits_.statuses, 1'000'000);
    count("messages_per_call_max", limits_.messages, 10'000'000);
    count("statuses_per_transaction_max", limits_.statuses_at_once, 10'000);
    count("issue_bytes_per_agent_max", limits_.issue_bytes, 1 << 24);
    count("working_bytes_per_region_max", limits_.turns.working_bytes, 1 << 30);
    count("waiting_bytes_per_region_max", limits_.turns.waiting_bytes, 1 << 30);
    constexpr int64_t tib = int64_t{1} << 40;
    count("bytes_per_second_per_region_max", limits_.turns.pace.bytes_per_second, tib, 64 << 10);
    count("burst_bytes_per_region_max", limits_.turns.pace.burst_bytes, tib);
    count("text_bytes_max", limits_.status.text_bytes, 1 << 20);
    count("status_bytes_max", limits_.status.total_bytes, 1 << 24);
    limits_.epoch_ahead = settings.milliseconds("epoch_ahead_max_ms", limits_.epoch_ahead, 0,
                                                limits_.epoch_ahead.count());
  }

  Result<> wire() {
    auto storage = storage::Client::find(host_, storage_name_);
    if (!storage.ok()) return storage.error();
    auto kinds = kind::each_once(host_);
    if (!kinds.ok()) return kinds.error();
    shared_ = std::make_unique<Shared>(host_, *storage, agent_stale_after_, limits_);
    for (const auto& kind : *kinds) shared_->kinds.push_back(kind.kind());
    const rpc::Server server(host_, shared_->operations);
    auto served = serve_report(server);
    if (!served.ok()) return served;
    if (served = serve_progress(server); !served.ok()) return served;
    if (served = serve_heartbeat(*shared_, server); !served.ok()) return served;
    for (const auto& kind : *kinds) {
      if (served = serve_ctrl_report(*shared_, server, kind); !served.ok()) return served;
    }
    return {};
  }

  Result<> start(const Op&) {
    shared_->start();
    host_.health(DAVIT_HEALTH_SERVING);
    return {};
  }
  Result<> stop(const Op& op) {
    shared_->stop();
    return shared_->outstanding.wait(host_, op);
  }
  std::vector<Delay> delays() const { return shared_->delays.all(host_.unix_ms()); }

 private:
  Result<> serve_report(const rpc::Server& server) {
    const rpc::Method method{.path = "davit.v1.AgentService/Report",
                             .request_type = "davit.v1.ReportRequest",
                             .response_type = "davit.v1.ReportResponse",
                             .descriptor_set = davit_wire_descriptors(),
                             .role = "agent"};
    return serve_in_turn(*shared_, server, method, Counts::bytes, [this](const Said& said) {
      v1::ReportRequest message;
      if (auto r = decode(said.message.view(), message); !r.ok()) return said.reply(r.error());
      report(message, said);
    });
  }

  // Does not decode a message that nests too many others.
  template <class Message>
  Result<> decode(std::string_view bytes, Message& message) const {
    if (messages_in(bytes, *Message::descriptor(), limits_.messages) > limits_.messages) {
      return Error{Code::invalid_argument,
                   "more than " + std::to_string(limits_.messages) +
                       " messages in one (messages_per_call_max of the server)"};
    }
    if (message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return {};
    return Error{Code::invalid_argument, "the request cannot be decoded"};
  }

  // Refuses single statuses by key and stores the others. The store itself ignores statuses of
  // records that it does not know.
  void report(const v1::ReportRequest& message, const Said& said) {
    if (auto r = refuse_unknown_features(message.required_features()); !r.ok())
      return said.reply(r.error());
    const auto count = static_cast<size_t>(message.statuses_size());
    if (count > limits_.statuses) {
      return said.reply(Error{Code::invalid_argument,
                              "more than " + std::to_string(limits_.statuses) + " of them",
                              "statuses"});
    }
    // The store works for each status, however short the status is.
    const size_t bytes = said.message.size(), work = count * status_work;
    if (work > bytes) shared_->turns.spend(said.region, work - bytes);
    v1::ReportResponse response;
    std::vector<Status> statuses;
    Epoch epoch{};
    const int64_t now = host_.unix_ms();
    for (const auto& s : message.statuses()) {
      auto status = from_wire(s, said.region, now);
      if (status.ok()) {
        if (auto r = admit(*status, shared_->kinds, limits_, now); !r.ok()) status = r.error();
      }
      if (status.ok()) {
        cut_to(limits_.status, *status);
        epoch = std::max(epoch, status->epoch);
        statuses.push_back(std::move(*status));
        continue;
      }
      auto* refusal = response.add_refusals();
      refusal->set_kind(s.kind());
      refusal->set_id(s.id());
      refusal->set_message(status.error().message);
    }
    shared_->refused.add(response.refusals_size());
    std::string answer = response.SerializeAsString();
    if (statuses.empty()) return said.reply(std::move(answer));
    shared_->reported(said.region, epoch);
    store_in_slices(*shared_, said.caller, std::move(statuses),
                    [this, answer = std::move(answer), reply = said.reply](Result<> r) {
                      if (r.ok()) return reply(answer);
                      shared_->failed(r.error());
                      reply(r.error());
                    });
  }

  Result<> serve_progress(const rpc::Server& server) {
    const rpc::Method method{.path = "davit.v1.AgentService/Progress",
                             .request_type = "davit.v1.ProgressRequest",
                             .response_type = "davit.v1.ProgressResponse",
                             .descriptor_set = davit_wire_descriptors(),
                             .role = "agent"};
    return serve_in_turn(*shared_, server, method, Counts::transaction, [this](const Said& said) {
      v1::ProgressRequest message;
      if (auto r = decode(said.message.view(), message); !r.ok()) return said.reply(r.error());
      if (auto r = refuse_unknown_features(message.required_features()); !r.ok())
        return said.reply(r.error());
      Progress word = from_wire(message, said.region, host_.unix_ms());
      if (auto r = admit(word, shared_->kinds, limits_); !r.ok()) return said.reply(r.error());
      cut_to(limits_, word);
      host_.blocking(shared_->storage.instance(),
                     [this, word = std::move(word), caller = said.caller, reply = said.reply] {
                       shared_->progress(
                           caller, word,
                           [](Epoch epoch_taken) {
                             v1::ProgressResponse response;
                             response.set_epoch_taken(epoch_taken.value());
                             return response.SerializeAsString();
                           },
                           reply);
                     });
    });
  }

  Host host_;
  std::string storage_name_;
  std::chrono::milliseconds agent_stale_after_{};
  Limits limits_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace davit::recorder

DAVIT_PLUGIN(davit::recorder::Recorder, "recorder", DAVIT_PLUGIN_VERSION,
             "records what agents report: statuses and progress")
