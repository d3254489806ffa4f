// Stream: one kind's subscription. It connects, reads one message at a time, offers its changes to
// the change sink, waits when the sink has no room, and connects again when the stream ends.
// Everything but the constructor, start, open and stop runs on its own strand; what may be
// committed is Cursor's to say.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <davit/rpc.hpp>

#include "audit.hpp"
#include "batch.hpp"

namespace davit::watcher {

struct Timing {
  std::chrono::milliseconds reconnect_min{1000}, reconnect_max{5000};
  Audit::Timing audit;  // of peers without bookmarks
  // Of such a peer: silent for so long, it has named what it has to name; 0: never.
  std::chrono::milliseconds quiet{30'000};
};

// What every stream of an instance works with.
struct Neighbours {
  Host host;
  rpc::Channel channel;
  sink::ChangeClient sink;
  std::optional<sink::StatusClient> status;
  Timing timing;
  // A stream is connected, or not (and why). Any thread.
  std::function<void(const std::string& kind, bool connected, const std::string& why)> health;
};

class Stream {
 public:
  Stream(std::shared_ptr<const Neighbours> neighbours, std::string kind, Dialect dialect);

  // Opens the sink's stream.
  Result<> start();
  // Begins to connect. After start, once, not after stop.
  void open();
  // Ends all work; `done` is called once, on the strand, and nothing runs after it.
  void stop(std::function<void()> done);

 private:
  class Handler;

  void connect();
  void on_message(const Buffer& message);
  void on_done(const rpc::End& end);

  void begin(bool snapshot, Position at, History history);
  void feed();
  void park(const Item& item);
  void finish_batch();
  void handle_end(const rpc::End& end);
  void reconnect(std::chrono::milliseconds at_least);

  // stream_audit.cpp
  void heard(const Item& item);
  void audit();
  void ask(const Audit::Known& known);
  void answered(const Audit::Known& known, const Result<std::string>& answer);
  void feed_found();
  void end_quietly(std::chrono::nanoseconds now);

  void settle();
  void report_progress();
  void connected();
  void trouble(const std::string& why);
  void close_sink();

  std::shared_ptr<const Neighbours> with_;
  const std::string kind_;
  const std::string region_;
  const Dialect dialect_;
  Strand strand_;
  Timer timer_, audit_timer_;

  sink::ChangeStream sink_;
  Cursor cursor_;
  Position known_;  // what was asked with last that was not nothing
  Position reported_;

  rpc::Call call_;                 // set while a call lives
  Batch batch_;                    // the message in hand
  size_t next_ = 0;                // first of its changes that the sink has not taken
  bool feeding_ = false;           // a message is in hand
  bool snapshot_ = false;          // this connection began with a snapshot that has not ended
  std::optional<rpc::End> ended_;  // the call is over, but its last message is still in hand
  std::function<void()> stopped_;  // set: stopping
  bool closing_ = false;

  std::optional<Audit> audit_;  // of a peer without bookmarks
  std::deque<Item> found_;      // by asking; the sink has not taken them yet
  size_t asking_ = 0;
  bool relisting_ = false, distrust_said_ = false;
  bool listing_ = false;                  // it began from nothing, and has not been silent since
  std::chrono::nanoseconds heard_at_{0};  // when it began, or was heard of

  bool up_ = false;
  uint64_t failures_ = 0;      // since it was last up
  uint64_t refusals_ = 0;      // positions refused in a row
  std::vector<Issue> issues_;  // of changes that could not be named

  // Filled by the sink on any thread, taken on the strand.
  std::mutex settled_mutex_;
  std::vector<uint64_t> settled_;

  Metric changes_, reconnects_, up_gauge_, version_gauge_;
};

}  // namespace davit::watcher
