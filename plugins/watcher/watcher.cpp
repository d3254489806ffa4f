// The plugin `watcher`: reads the settings, makes one Stream for each kind of the process, and
// starts and stops the streams.
#include <condition_variable>
#include <map>
#include <set>

#include <davit/gate.hpp>

#include "stream.hpp"

namespace davit::watcher {
namespace {

// The health of an instance: serving when all of its streams are connected, starting while nothing
// is known of some of them yet.
class Health {
 public:
  explicit Health(Host host) : host_(host) {}
  void expect(const std::string& kind) { unknown_.insert(kind); }
  // The streams open now.
  void begin() {
    const std::lock_guard lock(mutex_);
    tell();
  }
  void set(const std::string& kind, bool connected, const std::string& why) {
    const std::lock_guard lock(mutex_);
    unknown_.erase(kind);
    if (connected) {
      down_.erase(kind);
    } else {
      down_[kind] = why;
    }
    tell();
  }

 private:
  void tell() const {
    if (!down_.empty()) {
      host_.health(DAVIT_HEALTH_DEGRADED, down_.begin()->first + ": " + down_.begin()->second);
    } else if (!unknown_.empty()) {
      host_.health(DAVIT_HEALTH_STARTING, *unknown_.begin() + ": not connected yet");
    } else {
      host_.health(DAVIT_HEALTH_SERVING);
    }
  }

  Host host_;
  std::mutex mutex_;
  std::set<std::string> unknown_;            // neither connected yet, nor refused
  std::map<std::string, std::string> down_;  // why not
};

class Watcher {
 public:
  using roles = Roles<>;

  explicit Watcher(Host host) : host_(host), health_(host) {
    Settings settings(host);
    server_ = settings.string("server");
    sink_ = settings.string("sink");
    status_ = settings.string("status", "");
    gate_name_ = settings.optional_string("gate");
    timing_.reconnect_min = settings.milliseconds("reconnect_min_ms", timing_.reconnect_min, 1);
    timing_.reconnect_max = settings.milliseconds("reconnect_max_ms", timing_.reconnect_max, 1);
    timing_.audit.relist = settings.milliseconds("relist_interval_ms", timing_.audit.relist, 0);
    timing_.audit.confirm = settings.milliseconds("missing_confirm_ms", timing_.audit.confirm, 1);
    timing_.quiet = settings.milliseconds("listing_quiet_ms", timing_.quiet, 0);
    if (timing_.reconnect_max < timing_.reconnect_min) {
      settings.reject("reconnect_max_ms", "must not be below reconnect_min_ms");
    }
  }

  Result<> wire() {
    auto channel = rpc::Channel::find(host_, server_);
    if (!channel.ok()) return channel.error();
    auto sink = sink::ChangeClient::find(host_, sink_);
    if (!sink.ok()) return sink.error();
    auto with = std::make_shared<Neighbours>(
        Neighbours{host_, *channel, *sink, std::nullopt, timing_,
                   [this](const std::string& kind, bool up, const std::string& why) {
                     health_.set(kind, up, why);
                   }});
    if (!status_.empty()) {
      auto status = sink::StatusClient::find(host_, status_);
      if (!status.ok()) return status.error();
      with->status = *status;
    }
    auto gate = gate::Client::find(host_, gate_name_);
    if (!gate.ok()) return gate.error();
    gate_ = *gate;
    return make_streams(with);
  }

  Result<> start(const Op& op) {
    for (auto& s : streams_) {
      auto r = s->start();
      if (!r.ok()) {
        (void)stop(op);  // the host does not stop an instance that failed to start
        return r;
      }
      ++running_;
    }
    if (!gate_) {
      open();
      return {};
    }
    host_.health(DAVIT_HEALTH_SERVING, "standing by until \"" + gate_->name() + "\" opens");
    gate_->wait([this](Epoch epoch) {
      if (epoch) open();
    });
    return {};
  }

  Result<> stop(const Op& op) {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    for (size_t i = 0; i < running_; ++i) {
      streams_[i]->stop([this] {
        std::lock_guard lock(mutex_);
        ++stopped_;
        changed_.notify_all();
      });
    }
    std::unique_lock lock(mutex_);
    const auto done = [this] { return stopped_ == running_; };
    if (op.deadline_ns() == INT64_MAX) {
      changed_.wait(lock, done);
      return {};
    }
    if (changed_.wait_for(lock, std::chrono::nanoseconds(op.deadline_ns()) - host_.now(), done))
      return {};
    return Error{Code::deadline_exceeded, std::to_string(running_ - stopped_) + " of " +
                                              std::to_string(running_) + " streams did not end"};
  }

 private:
  // The mutex orders open and stop: a gate may open during stop, and no stream may open after it.
  void open() {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    health_.begin();
    for (auto& s : streams_) s->open();
  }

  Result<> make_streams(const std::shared_ptr<Neighbours>& with) {
    const std::string protocol = with->channel.protocol();
    for (const auto& kind : kind::Client::all(host_)) {
      if (protocol == "ctrl.v1" && !kind.description().ctrl_v1) {
        host_.warn("kind is not on the ctrl.v1 wire and is not watched", {{"kind", kind.kind()}});
        continue;
      }
      Dialect dialect;
      if (protocol == "ctrl.v1") {
        auto schema = kind.schema(host_);
        if (!schema.ok()) return schema.error();
        auto made = ctrl_v1(kind, *schema, with->channel.region(), with->channel.agent());
        if (!made.ok()) return made.error();
        dialect = std::move(*made);
      } else {
        dialect = davit_v1(kind.kind(), with->channel.region(), with->channel.agent());
      }
      health_.expect(kind.kind());
      streams_.push_back(std::make_unique<Stream>(with, kind.kind(), std::move(dialect)));
    }
    return {};
  }

  Host host_;
  Health health_;
  std::string server_, sink_, status_;
  std::optional<std::string> gate_name_;
  std::optional<gate::Client> gate_;
  Timing timing_;
  std::vector<std::unique_ptr<Stream>> streams_;
  size_t running_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  size_t stopped_ = 0;
};

}  // namespace
}  // namespace davit::watcher

DAVIT_PLUGIN(davit::watcher::Watcher, "watcher", DAVIT_PLUGIN_VERSION,
             "streams desired state into a change sink")
