// The plugin `reporter`: reads the settings, finds the neighbours, and starts and stops the
// Reporter.
#include <condition_variable>

#include <davit/gate.hpp>
#include <davit/kinds.hpp>

#include "reporter.hpp"

namespace davit::reporter {
namespace {

class Plugin {
 public:
  using roles = Roles<sink::StatusRole>;

  explicit Plugin(Host host) : host_(host), strand_(host.strand()) {
    Settings s(host);
    server_ = s.string("server");
    gate_name_ = s.optional_string("gate");
    rules_.capacity = static_cast<size_t>(s.integer("capacity", 10'000, 1, 10'000'000));
    rules_.batch_window = s.milliseconds("batch_window_ms", rules_.batch_window);
    rules_.batch_max = static_cast<size_t>(s.integer("batch_max", 500, 1, 10'000));
    rules_.retry.first = s.milliseconds("retry_first_ms", rules_.retry.first, 1);
    rules_.retry.most = s.milliseconds("retry_most_ms", rules_.retry.most, 1);
    rules_.breaker.failures_max =
        static_cast<uint32_t>(s.integer("breaker_failures_max", 5, 1, 1'000'000));
    rules_.breaker.open_for = s.milliseconds("breaker_open_ms", rules_.breaker.open_for, 1);
    rules_.progress_interval = s.milliseconds("progress_interval_ms", rules_.progress_interval, 1);
    rules_.repeat_interval = s.milliseconds("repeat_interval_ms", rules_.repeat_interval, 1);
    auto& size = rules_.status_size;
    size.text_bytes = static_cast<size_t>(
        s.integer("text_bytes_max", static_cast<int64_t>(size.text_bytes), 1, 1 << 20));
    size.total_bytes = static_cast<size_t>(
        s.integer("status_bytes_max", static_cast<int64_t>(size.total_bytes), 1024, 1 << 20));
    timeout_ = s.milliseconds("call_timeout_ms", timeout_, 1);
    parallel_ = static_cast<size_t>(s.integer("parallel", 8, 1, 1000));
    if (rules_.retry.most < rules_.retry.first)
      s.reject("retry_most_ms", "must not be below retry_first_ms");
  }

  Result<> wire() {
    auto channel = rpc::Channel::find(host_, server_);
    if (!channel.ok()) return channel.error();
    auto gate = gate::Client::find(host_, gate_name_);
    if (!gate.ok()) return gate.error();
    gate_ = *gate;
    auto kinds = kind::each_once(host_);
    if (!kinds.ok()) return kinds.error();
    calls_.emplace(host_, *channel, strand_, timeout_);
    reporter_.emplace(host_, rules_, strand_, channel->region(), channel->agent());
    if (channel->protocol() != "ctrl.v1") {
      reporter_->use(davit_v1(*calls_));
      return {};
    }
    auto sender = ctrl_v1(*calls_, *kinds, parallel_, channel->platform(), rules_.retry);
    if (!sender.ok()) return sender.error();
    reporter_->use(std::move(*sender));
    return {};
  }

  Result<> start(const Op&) {
    if (!gate_) {
      begin(Epoch(static_cast<uint64_t>(host_.unix_ms())));
      return {};
    }
    host_.health(DAVIT_HEALTH_SERVING, "standing by until \"" + gate_->name() + "\" opens");
    gate_->wait([this](Epoch epoch) {
      if (epoch) begin(epoch);
    });
    return {};
  }

  Result<> stop(const Op& op) {
    const auto end = op.deadline_ns() == INT64_MAX ? host_.now() + timeout_
                                                   : std::chrono::nanoseconds(op.deadline_ns());
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    // A quarter of the remaining time is kept for cancelling the calls.
    const auto patience = (end - host_.now()) * 3 / 4;
    strand_.post([this] { reporter_->flush([this] { set(flushed_); }); });
    {
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, patience, [this] { return flushed_; });
    }
    strand_.post([this] {
      reporter_->halt();
      calls_->cancel();
      wait_for_calls();
    });
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, end - host_.now(), [this] { return ended_; })) return {};
    return Error{Code::deadline_exceeded, "calls to the control plane, or to a kind, did not end"};
  }

  void offer(Status s) { reporter_->offer(std::move(s)); }
  void advance(const std::string& region, const KindProgress& p) { reporter_->advance(region, p); }
  void issue(const std::string& region, const Issue& i) { reporter_->issue(region, i); }

 private:
  // The mutex orders begin and stop: a gate may open during stop, and nothing may start after it.
  void begin(Epoch epoch) {
    std::lock_guard lock(mutex_);
    if (stopping_) return;
    strand_.post([this, epoch] { reporter_->start(epoch); });
  }
  void set(bool& flag) {
    std::lock_guard lock(mutex_);
    flag = true;
    changed_.notify_all();
  }
  void wait_for_calls() {
    if (calls_->idle() && reporter_->idle()) return set(ended_);
    ending_.after(std::chrono::milliseconds(5), [this] { wait_for_calls(); });
  }

  Host host_;
  Strand strand_;
  Timer ending_{strand_};
  std::string server_;
  std::optional<std::string> gate_name_;
  std::optional<gate::Client> gate_;
  Rules rules_;
  std::chrono::milliseconds timeout_{10'000};
  size_t parallel_ = 8;
  std::optional<Calls> calls_;
  std::optional<Reporter> reporter_;

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false, flushed_ = false, ended_ = false;
};

}  // namespace
}  // namespace davit::reporter

DAVIT_PLUGIN(davit::reporter::Plugin, "reporter", DAVIT_PLUGIN_VERSION,
             "buffers statuses and sends them upwards")
