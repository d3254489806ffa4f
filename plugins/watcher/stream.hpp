// Stream: one kind's subscription. It connects, reads one message at a time, offers its changes to
// the change sink, waits when the sink has no room, and connects again when the stream ends.
// Everything but the constructor, start and stop runs on its own strand; what may be committed is
// Cursor's to say.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <davit/rpc.hpp>

#include "batch.hpp"

namespace davit::watcher {

struct Timing {
  std::chrono::milliseconds reconnect_min{1000}, reconnect_max{5000};
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

  // Opens the sink's stream and begins to connect.
  Result<> start();
  // Ends all work; `done` is called once, on the strand, and nothing runs after it.
  void stop(std::function<void()> done);

 private:
  class Handler;

  void connect();
  void on_message(const Buffer& message);
  void on_done(const rpc::End& end);

  void begin(bool snapshot, Position at);
  void feed();
  void park(const Item& item);
  void finish_batch();
  void handle_end(const rpc::End& end);
  void reconnect(std::chrono::milliseconds at_least);

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
  Timer timer_;

  sink::ChangeStream sink_;
  Cursor cursor_;
  Position reported_;

  rpc::Call call_;                 // set while a call lives
  Batch batch_;                    // the message in hand
  size_t next_ = 0;                // first of its changes that the sink has not taken
  bool feeding_ = false;           // a message is in hand
  bool snapshot_ = false;          // this connection began with a snapshot that has not ended
  std::optional<rpc::End> ended_;  // the call is over, but its last message is still in hand
  std::function<void()> stopped_;  // set: stopping
  bool closing_ = false;

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
