// Stream: the subscription of one kind. It connects to the server, reads one message after the
// other and offers its changes to the change sink. It waits while the sink has no room, and
// connects again when the stream ends. The constructor, start, open and stop may run on any thread;
// everything else runs on the stream's own strand, but what asks the kind: some messages are
// decoded together on the kind's pool, in order. PositionTracker decides which position is
// committed.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <davit/backoff.hpp>
#include <davit/rpc.hpp>

#include "audit.hpp"
#include "batch.hpp"

namespace davit::watcher {

struct Timing {
  std::chrono::milliseconds reconnect_min{1000}, reconnect_max{5000};
  Audit::Timing audit;  // only for peers without bookmarks
  // A listing of such a peer counts as ended after so much silence; 0: never.
  std::chrono::milliseconds quiet{30'000};
};

// What all streams of an instance share.
struct Neighbours {
  Host host;
  rpc::Channel channel;
  sink::ChangeClient sink;
  std::optional<sink::StatusClient> status;
  Timing timing;
  // Tells the plugin that a kind's stream is connected, or why not. [any]
  std::function<void(const std::string& kind, bool connected, const std::string& why)> health;
};

class Stream {
 public:
  Stream(std::shared_ptr<const Neighbours> neighbours, std::string kind, Dialect dialect);

  // Opens the sink's stream.
  Result<> start();
  // Begins to connect. Once, after start and before stop.
  void open();
  // Ends all work. Calls `done` once, on the strand, as the last thing that this stream does.
  void stop(std::function<void()> done);

 private:
  class Handler;

  void connect();
  void on_written();
  void on_message(const Buffer& message);
  void on_done(const rpc::End& end);

  bool begin(bool snapshot, Cursor at, History history);  // false: the sink has refused it
  bool heeded(const Result<>& said);
  void feed();
  void park(const Item& item);

  // stream_decode.cpp
  void read_on();
  void decode();
  struct Decoded {
    std::deque<Batch> batches;
    std::optional<Error> error;  // of the message after them
    std::deque<Buffer> rest;     // the messages that are not decoded
  };
  Decoded decoded_now(std::deque<Buffer> messages) const;
  void decoded(uint64_t round, Decoded what);
  void take_next();
  void take(Batch batch);
  void unreadable(const Error& why);
  void wait_for_kind(const Error& why);
  void say_delayed(const std::string& why);
  void forget_messages();
  void close_when_idle();
  // Messages that have come and are not taken in.
  size_t waiting() const { return inbox_.size() + in_work_ + decoded_.size(); }
  bool busy() const { return feeding_ || waiting() > 0; }

  void finish_batch();
  void handle_end(const rpc::End& end);
  void reconnect(std::chrono::milliseconds at_least);

  // stream_audit.cpp
  void heard(const Item& item);
  void audit();
  void ask(const Audit::Known& known);
  void answered(const Audit::Known& known, const Result<std::string>& answer);
  void read_answer(const Audit::Known& known, std::string answer);
  void found(const Audit::Known& known, Result<Batch> batch);
  void feed_found();
  void end_quietly(std::chrono::nanoseconds now);

  void settle();
  void report_progress();
  void connected();
  void trouble(const Error& error);
  void close_sink();

  std::shared_ptr<const Neighbours> with_;
  const std::string kind_;
  const std::string region_;
  const Dialect dialect_;
  Strand strand_;
  Timer timer_, audit_timer_, kind_timer_;

  sink::ChangeStream sink_;
  PositionTracker tracker_;
  Cursor known_;  // the last position other than 0 that it asked with, until the peer begins
  Cursor reported_;

  rpc::Call call_;              // set while a call lives
  bool reading_ = false;        // the call has been asked for a message
  std::deque<Buffer> inbox_;    // messages, in order
  size_t in_work_ = 0;          // then those that are being decoded come before them
  std::deque<Batch> decoded_;   // before those
  bool decoding_ = false;       // a job decodes
  uint64_t round_ = 0;          // how often messages were forgotten
  std::optional<Error> stuck_;  // of the first message of inbox_
  Backoff kind_delay_;          // while the kind cannot answer
  bool delay_said_ = false;
  Batch batch_;                    // the current message
  size_t next_ = 0;                // its first change that the sink has not taken
  bool feeding_ = false;           // the sink has not taken all of batch_ yet
  bool snapshot_ = false;          // this connection began with a snapshot that has not ended
  std::optional<rpc::End> ended_;  // the call is over, but its messages are not all taken yet
  std::optional<rpc::End>
      part_ended_;                 // the peer has ended this kind's part; the call is over soon
  std::function<void()> stopped_;  // set: stopping
  bool closing_ = false;

  std::optional<Audit> audit_;  // only for a peer without bookmarks
  std::deque<Item> found_;      // results of point queries that the sink has not taken yet
  size_t asking_ = 0;           // point queries under way
  bool relisting_ = false, distrust_said_ = false;
  bool listing_ = false;                  // a listing began and no silence has ended it
  bool asked_ = false;                    // the current call's request has gone out
  std::chrono::nanoseconds heard_at_{0};  // time of the request or of the last message

  bool up_ = false;
  bool call_failed_ = false;     // the current one, for a reason that has been told
  uint64_t failures_ = 0;        // since the stream was last up
  std::optional<Code> trouble_;  // that was logged last, since then
  uint64_t refusals_ = 0;        // positions refused since a call was connected for reconnect_max
  std::optional<std::chrono::nanoseconds> connected_at_;  // of the current call
  std::vector<Issue> issues_;  // the parked changes that could not be named

  // The sink adds to it on any thread; the strand takes it.
  std::mutex settled_mutex_;
  std::vector<Version> settled_;

  Metric changes_, reconnects_, up_gauge_, version_gauge_;
};

}  // namespace davit::watcher
