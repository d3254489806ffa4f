#include "fleet.hpp"

#include "wire.hpp"

namespace davit::bench {

class Fleet::Watcher final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  Watcher(Fleet& fleet, size_t index)
      : fleet_(fleet), index_(index), region_(region_name(index % fleet.settings_.regions)) {}

  void open() {
    context_ = std::make_unique<grpc::ClientContext>();
    authorize(*context_, fleet_.settings_.token, region_);
    is_live_ = false;
    request_ = fleet_.wire_.watch_request(region_, place());
    stub().PrepareBidiStreamingCall(context_.get(), fleet_.wire_.watch_path(), {}, this);
    if (fleet_.wire_.keeps_writing()) {
      StartWrite(&request_);
    } else {
      StartWriteLast(&request_, {});
    }
    StartRead(&message_);
    StartCall();
  }
  void open(Place from) {
    place_ = from;
    open();
  }
  void cancel() {
    alarm_.Cancel();
    const std::lock_guard lock(mutex_);
    if (context_) context_->TryCancel();
  }
  Place place() const {
    const std::lock_guard lock(mutex_);
    return place_;
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    ++fleet_.messages_;
    if (!is_live_) fleet_.became_live();
    is_live_ = true;
    Place at = place();
    if (!fleet_.wire_.read(message_, at,
                           [this](uint64_t number) { fleet_.arrived_(index_, number); }))
      return context_->TryCancel();
    {
      const std::lock_guard lock(mutex_);
      place_ = at;
    }
    message_.Clear();
    if (index_ < fleet_.settings_.stopped && fleet_.reading_stops_) return;
    StartRead(&message_);
  }

  void OnDone(const grpc::Status& status) override {
    if (is_live_) --fleet_.live_;
    ++fleet_.lost_;
    std::unique_lock lock(fleet_.mutex_);
    fleet_.last_end_ = std::to_string(status.error_code()) + " " + status.error_message();
    if (fleet_.ending_ || !fleet_.settings_.comes_back) {
      --fleet_.open_;
      fleet_.changed_.notify_all();
      return;
    }
    const auto pause = std::chrono::milliseconds(1000 + fleet_.random_() % 4001);
    lock.unlock();
    alarm_.Set(std::chrono::system_clock::now() + pause, [this](bool fired) {
      if (fired && !fleet_.ending_) return open();
      const std::lock_guard end(fleet_.mutex_);
      --fleet_.open_;
      fleet_.changed_.notify_all();
    });
  }

 private:
  grpc::GenericStub& stub() { return *fleet_.stubs_[index_ % fleet_.stubs_.size()]; }

  Fleet& fleet_;
  const size_t index_;
  const std::string region_;
  mutable std::mutex mutex_;
  Place place_;
  std::unique_ptr<grpc::ClientContext> context_;
  grpc::ByteBuffer request_, message_;
  grpc::Alarm alarm_;
  bool is_live_ = false;
};

Fleet::Fleet(const WatchWire& wire, FleetSettings settings, Arrived arrived)
    : wire_(wire), settings_(std::move(settings)), arrived_(std::move(arrived)) {
  for (size_t i = 0; i < settings_.connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a connection of its own
    arguments.SetMaxReceiveMessageSize(64 << 20);
    // Who is away comes back by the pause above, and then at once.
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 20'000);  // of one attempt
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
    stubs_.push_back(std::make_unique<grpc::GenericStub>(grpc::CreateCustomChannel(
        settings_.server, grpc::InsecureChannelCredentials(), arguments)));
  }
  for (size_t i = 0; i < settings_.streams; ++i)
    watchers_.push_back(std::make_unique<Watcher>(*this, i));
}

Fleet::~Fleet() {
  ending_ = true;
  for (auto& watcher : watchers_) watcher->cancel();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return open_ == 0; });
}

void Fleet::start(Place from) {
  open_ = watchers_.size();
  for (auto& watcher : watchers_) watcher->open(from);
}

Place Fleet::place(size_t stream) const {
  return watchers_[stream]->place();
}

std::string Fleet::last_end() const {
  const std::lock_guard lock(mutex_);
  return last_end_;
}

void Fleet::became_live() {
  if (++live_ == settings_.streams) {
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
  }
}

bool Fleet::wait_all_live(std::chrono::seconds limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return live_ == settings_.streams; });
}

}  // namespace davit::bench
