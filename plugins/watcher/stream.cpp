#include "stream.hpp"

#include <charconv>

#include <davit/backoff.hpp>

namespace davit::watcher {
namespace {

// A ctrl.v1 peer sends nothing until something changes, not even headers. It counts as connected
// when it has had the request for this long and has not ended the call.
constexpr std::chrono::milliseconds quiet_connect{1000};

std::chrono::milliseconds retry_after(const rpc::End& end) {
  for (const auto& [key, value] : end.trailers) {
    int64_t ms = 0;
    if (key == "retry-after-ms" &&
        std::from_chars(value.data(), value.data() + value.size(), ms).ec == std::errc{} &&
        ms > 0) {
      return std::chrono::milliseconds(std::min<int64_t>(ms, 600'000));
    }
  }
  return {};
}

std::string reason_of(const rpc::End& end) {
  if (end.code == Code::ok) return "the peer has ended the stream in the middle of a snapshot";
  if (!end.message.empty()) return end.message;
  return "code " + std::to_string(static_cast<int>(end.code));
}

}  // namespace

class Stream::Handler : public rpc::Handler {
 public:
  explicit Handler(Stream& stream) : stream_(stream) {}
  void on_message(Buffer message) override { stream_.on_message(message); }
  void on_writable() override { stream_.on_written(); }
  void on_done(const rpc::End& end) override { stream_.on_done(end); }

 private:
  Stream& stream_;  // outlives its calls: stop waits for on_done
};

Stream::Stream(std::shared_ptr<const Neighbours> neighbours, std::string kind, Dialect dialect)
    : with_(std::move(neighbours)),
      kind_(std::move(kind)),
      region_(with_->channel.region()),
      dialect_(std::move(dialect)),
      strand_(with_->host.strand()),
      timer_(strand_),
      audit_timer_(strand_),
      kind_timer_(strand_) {
  if (!dialect_.bookmarks) audit_.emplace(with_->timing.audit);
  const Host& host = with_->host;
  const Pairs labels{{"kind", kind_}};
  changes_ = host.counter("davit_watcher_changes_total", "Changes taken from the stream", labels);
  reconnects_ = host.counter("davit_watcher_disconnects_total", "Times the stream ended", labels);
  up_gauge_ = host.gauge("davit_watcher_connected", "1 while the stream is connected", labels);
  version_gauge_ =
      host.gauge("davit_watcher_applied_version", "Version up to which all is settled", labels);
}

Result<> Stream::start() {
  sink::Source source;
  source.wake = [this] { strand_.post([this] { feed(); }); };
  source.settled = [this](Version version, sink::Outcome outcome) {
    if (outcome == sink::Outcome::abandoned) return;
    bool first = false;
    {
      std::lock_guard lock(settled_mutex_);
      first = settled_.empty();
      settled_.push_back(version);
    }
    if (first) strand_.post([this] { settle(); });
  };
  source.closed = [this] {
    strand_.post([this] {
      // Last, because the callback may lead to the end of this stream.
      auto stopped = std::move(stopped_);
      stopped();
    });
  };
  auto opened = with_->sink.open(kind_, region_, std::move(source));
  if (!opened.ok()) return opened.error();
  sink_ = *opened;
  return {};
}

void Stream::open() {
  strand_.post([this] {
    connect();
    if (audit_) audit();
  });
}

void Stream::stop(std::function<void()> done) {
  strand_.post([this, done = std::move(done)]() mutable {
    stopped_ = std::move(done);
    timer_.cancel();
    audit_timer_.cancel();
    kind_timer_.cancel();
    forget_messages();
    if (call_) call_.cancel();
    close_when_idle();
  });
}

void Stream::close_when_idle() {
  if (!call_ && asking_ == 0 && !decoding_) close_sink();
}

void Stream::close_sink() {
  if (closing_) return;
  closing_ = true;
  feeding_ = false;
  found_.clear();
  sink_.close();
}

void Stream::connect() {
  if (stopped_) return;
  asked_ = false;
  call_failed_ = false;
  call_ = with_->channel.start(dialect_.path, strand_, std::make_unique<Handler>(*this),
                               dialect_.metadata);
  const Cursor from = dialect_.bookmarks ? tracker_.received() : tracker_.committed();
  if (from.version) known_ = from;
  if (!dialect_.bookmarks) {
    if (!begin(!from.version, from, {})) return;
    if (!from.version) {
      listing_ = true;
      audit_->listing(with_->host.now());
    }
    tracker_.begin_without_bookmarks();
  }
  call_.write(dialect_.request(from));
  if (dialect_.bookmarks) call_.half_close();
  reading_ = false;
  read_on();
}

// The request has gone out, so there is a connection. A call that waits for one looks like a call
// to a quiet peer otherwise, and a half-closed call is not told that its write is done.
void Stream::on_written() {
  if (stopped_ || relisting_ || dialect_.bookmarks) return;
  call_.half_close();
  asked_ = true;
  heard_at_ = with_->host.now();
  timer_.after(quiet_connect, [this] { connected(); });
}

bool Stream::begin(bool snapshot, Cursor at, History history) {
  if (dialect_.bookmarks) tracker_.begin(snapshot, at);
  snapshot_ = snapshot;
  if (snapshot) {
    for (Issue& issue : issues_) {
      issue.condition.clear();
      if (with_->status) with_->status->issue(region_, issue);
    }
    issues_.clear();
  }
  if (!history.empty() && known_.version && !knows(history, known_))
    with_->host.warn("the server's store has lost changes that it had sent", {{"kind", kind_}});
  known_ = {};
  return heeded(sink_.begin({snapshot, at, std::move(history)}));
}

// A stream cannot go on without what its sink does not understand. It is made anew later.
bool Stream::heeded(const Result<>& said) {
  if (said.ok()) return true;
  trouble({said.error().code, "the sink refuses: " + said.error().message});
  forget_messages();
  if (call_) call_.cancel();
  return false;
}

void Stream::on_message(const Buffer& message) {
  reading_ = false;
  if (stopped_) return;
  if (!dialect_.pool.empty()) {
    inbox_.push_back(message);
    decode();
    return read_on();
  }
  auto batch = dialect_.decode(message);
  if (!batch.ok()) return unreadable(batch.error());
  take(std::move(*batch));
}

void Stream::take(Batch batch) {
  if (batch.end) {
    part_ended_ = std::move(batch.end);
  } else {
    connected();
  }
  batch_ = std::move(batch);
  next_ = 0;
  feeding_ = true;
  if (batch_.mark && (batch_.mark->type == Mark::Type::begin_snapshot ||
                      batch_.mark->type == Mark::Type::begin_tail)) {
    if (!begin(batch_.mark->type == Mark::Type::begin_snapshot, batch_.mark->at,
               std::move(batch_.mark->history))) {
      feeding_ = false;
      return;
    }
    batch_.mark.reset();
  }
  feed();
}

// Offers the changes of the current message until the sink asks to wait. The sink's wake calls this
// again.
void Stream::feed() {
  if (closing_) return;
  if (!feeding_) return feed_found();
  for (; next_ < batch_.items.size(); ++next_) {
    Item& item = batch_.items[next_];
    if (!item.fault.empty()) {
      park(item);
      continue;
    }
    if (!sink_.offer(item.change)) return;
    tracker_.offered(item.change.version);
    changes_.add();
    if (audit_) heard(item);
  }
  finish_batch();
}

// Parks a change that cannot be read or named. It must not delay the changes after it.
void Stream::park(const Item& item) {
  const Version version = item.change.version;
  with_->host.error("a change cannot be read and is parked",
                    {{"kind", kind_}, {"version", to_string(version)}, {"fault", item.fault}});
  tracker_.offered(version);
  tracker_.settled(version);
  Issue issue{kind_,      {},
              {},         "version " + to_string(version),
              version,    DAVIT_ISSUE_PARKED,
              item.fault, tracker_.incarnation()};
  if (with_->status) with_->status->issue(region_, issue);
  issues_.push_back(std::move(issue));
}

void Stream::finish_batch() {
  feeding_ = false;
  if (batch_.mark) {
    const Mark& mark = *batch_.mark;
    const bool end = mark.type == Mark::Type::snapshot_end;
    if (heeded(sink_.bookmark({end, mark.live_count, mark.at}))) {
      tracker_.bookmark(mark.at, end);
      if (end) snapshot_ = false;
    }
  }
  batch_ = {};
  if (audit_) heard_at_ = with_->host.now();
  feed_found();
  report_progress();
  if (stopped_) return;
  if (call_ && part_ended_) return call_.cancel();
  take_next();
  read_on();
}

void Stream::on_done(const rpc::End& how) {
  const rpc::End end = std::exchange(part_ended_, std::nullopt).value_or(how);
  call_ = {};
  timer_.cancel();
  if (stopped_) {
    close_when_idle();
  } else if (busy()) {
    ended_ = end;  // the sink takes the messages first
  } else {
    handle_end(end);
  }
}

void Stream::handle_end(const rpc::End& end) {
  const auto connected_at = std::exchange(connected_at_, std::nullopt);
  if (connected_at && with_->host.now() - *connected_at >= with_->timing.reconnect_max)
    refusals_ = 0;
  if (std::exchange(relisting_, false)) {
    tracker_.refused();
    return connect();
  }
  reconnects_.add();
  // With bookmarks, only a bookmark ends a snapshot.
  const bool cut = snapshot_ && dialect_.bookmarks;
  if (end.code == Code::ok && !cut) {
    if (snapshot_) {
      snapshot_ = false;
      listing_ = false;
      heeded(sink_.bookmark({true, std::nullopt, tracker_.committed()}));
    }
    tracker_.closed_clean();
    report_progress();
    reconnect(retry_after(end));
    return;
  }
  if (end.code == Code::out_of_range) {
    tracker_.refused();
    with_->host.info("the server refuses the position; the stream begins with a snapshot",
                     {{"kind", kind_}, {"reason", end.message}});
    // Connect at once the first time: the refusal is an answer, not a failure.
    if (++refusals_ == 1) {
      connect();
      return;
    }
  }
  trouble({end.code, reason_of(end)});
  reconnect(retry_after(end));
}

void Stream::reconnect(std::chrono::milliseconds at_least) {
  const auto& t = with_->timing;
  const auto delay = jittered(t.reconnect_min, t.reconnect_max, with_->host.random());
  timer_.after(std::max(delay, at_least), [this] { connect(); });
}

void Stream::settle() {
  std::vector<Version> settled;
  {
    std::lock_guard lock(settled_mutex_);
    settled.swap(settled_);
  }
  for (Version version : settled) tracker_.settled(version);
  report_progress();
}

void Stream::report_progress() {
  const Cursor at = tracker_.committed();
  if (at == reported_ || !at.version) return;
  reported_ = at;
  version_gauge_.set(static_cast<double>(at.version.value()));
  if (with_->status) with_->status->advance(region_, {kind_, at});
}

void Stream::connected() {
  if (!connected_at_) connected_at_ = with_->host.now();
  if (up_) return;
  up_ = true;
  up_gauge_.set(1);
  if (failures_ == 0) {
    with_->host.info("stream connected", {{"kind", kind_}});
  } else {
    with_->host.info("stream connected again",
                     {{"kind", kind_}, {"failures", std::to_string(failures_)}});
  }
  failures_ = 0;
  trouble_.reset();
  with_->health(kind_, true, {});
}

void Stream::trouble(const Error& error) {
  up_ = false;
  up_gauge_.set(0);
  if (std::exchange(call_failed_, true)) return;  // it ends for the reason that was told
  ++failures_;
  with_->health(kind_, false, error.message);
  // Logged when it begins, when it becomes another one, and when it ends.
  if (std::exchange(trouble_, error.code) == error.code) return;
  with_->host.warn("stream lost", {{"kind", kind_}, {"reason", error.message}});
}

}  // namespace davit::watcher
