// One watch: what to ask the API server next, what to make of what it says, and what waits to be
// delivered.
//
//   next() -> GET -> data()... -> ended() -> delay -> next() -> ...
//
// Initial events come as a streaming list (Kubernetes 1.32 and newer), or, where the server refuses
// that, as pages of a list; the changes after them continue from their resource version, over any
// number of connections. Before each further connection the resource version of now is asked for:
// in an etcd that was restored it is below the one that was reached, a watch from there would be
// silent, and everything is listed anew. Pure: time, randomness and sockets are the caller's.
#pragma once

#include <davit/backoff.hpp>
#include <deque>

#include "answer.hpp"
#include "lines.hpp"

namespace davit::cluster_kubernetes {

class WatchFlow {
 public:
  struct Options {
    bool streaming_lists = true;
    size_t event_bytes_max = 8u << 20;
    Backoff::Limits backoff{std::chrono::milliseconds(100), std::chrono::milliseconds(5'000)};
  };
  struct Step {
    std::string path;  // with its query
    std::string accept;
    bool stream;  // hand its body to data(); otherwise all of it to ended()
  };
  struct Item {
    int32_t type;  // DAVIT_WATCH_...
    std::string object;
  };

  // `collection`: the path of what is watched.
  WatchFlow(cluster::WatchRequest request, std::string collection, Options options);

  Step next(uint64_t random);
  // The API server has taken the request of a stream, some time ago: it goes on, though nothing
  // happens.
  void opened();
  // A piece of the body of a stream with status 200.
  void data(std::string_view chunk);
  // How the transfer ended; the time to wait before the next step.
  std::chrono::milliseconds ended(const Outcome& outcome, uint64_t random);

  // Whether the API server has said no, and not for a while only.
  bool is_refused(const Outcome& outcome) const;

  void grant(uint32_t more) { credit_ = credit_ > UINT32_MAX - more ? UINT32_MAX : credit_ + more; }
  // The next event, if there is one and credit for it.
  std::optional<Item> take();
  // How much waits for credit: above its limit the caller stops reading.
  size_t waiting_bytes() const { return waiting_bytes_; }
  const std::string& resource_version() const { return version_; }

 private:
  Step look() const;
  void line(std::string_view line);
  void bookmark(std::string_view object);
  void failed_event(std::string_view status);
  std::chrono::milliseconds looked(const Outcome& outcome, uint64_t random);
  std::chrono::milliseconds page(const Outcome& outcome, uint64_t random);
  std::chrono::milliseconds refused(const Outcome& outcome, uint64_t random);
  bool may_be_absent() const;
  void absent(std::string message);
  void works();
  void begin_anew();
  void synced(std::string version, std::string object);
  bool trouble(std::string message, int32_t type = DAVIT_WATCH_TROUBLE);  // true: it was said
  void push(int32_t type, std::string object);

  const cluster::WatchRequest request_;
  const std::string collection_;
  const Options options_;
  bool streaming_;          // the server has not refused streaming lists
  bool initial_;            // initial events are still to come, or to be completed
  bool announced_ = false;  // RESTART was sent for them
  bool listing_ = false;    // the step under way is a page of a list
  bool looking_ = false;    // the step under way asks for the version of now
  bool looked_ = true;      // no connection has ended since that was asked for
  bool progress_ = false;   // this connection brought something
  bool broken_ = false;     // this connection brought an ERROR
  bool absent_ = false;     // it was said that there is nothing: no such resource
  std::chrono::milliseconds retry_after_{0};
  std::string version_;       // continue after this
  std::string continue_;      // of a list
  std::string last_trouble_;  // the same one is said once
  Backoff backoff_;
  Lines lines_;
  uint32_t credit_ = 0;
  std::deque<Item> waiting_;
  size_t waiting_bytes_ = 0;
};

}  // namespace davit::cluster_kubernetes
