// One watch: decides the next request to the API server, interprets the answer, and keeps the
// events that wait for delivery.
//
//   next() -> GET -> data()... -> ended() -> delay -> next() -> ...
//
// Initial events come as a streaming list (Kubernetes 1.32 and newer) or, if the server refuses
// that, as pages of a list. The changes after them continue from their resource version, over any
// number of connections. Before each further connection the watch asks for the current resource
// version. If it is below the version that the watch has reached, etcd was restored. A watch from
// the old version would be silent, so everything is listed again. Pure: the caller supplies time,
// randomness and the connection.
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
    bool stream;  // pass its body to data(); otherwise pass all of it to ended()
  };
  struct Item {
    int32_t type;  // DAVIT_WATCH_...
    std::string object;
  };

  // `collection` is the path of the watched resource.
  WatchFlow(cluster::WatchRequest request, std::string collection, Options options);

  Step next(uint64_t random);
  // The API server accepted the stream's request some time ago. So the watch works, even if no
  // event has come.
  void opened();
  // Takes a piece of the body of a stream with status 200.
  void data(std::string_view chunk);
  // Takes the result of the transfer. Returns the time to wait before the next step.
  std::chrono::milliseconds ended(const Outcome& outcome, uint64_t random);

  // True if the API server has refused the request, and not only for a while.
  bool is_refused(const Outcome& outcome) const;
  // True if the API server says that it does not know the resource.
  bool is_absent(const Outcome& outcome) const;

  void grant(uint32_t more) { credit_ = credit_ > UINT32_MAX - more ? UINT32_MAX : credit_ + more; }
  // The next event, if there is one and credit for it.
  std::optional<Item> take();
  // The bytes that wait for credit. Above its limit the caller stops reading.
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
  void absent(std::string message);
  void works();
  void begin_anew();
  void synced(std::string version, std::string object);
  bool trouble(std::string message, int32_t type = DAVIT_WATCH_TROUBLE);  // true: it was reported
  void push(int32_t type, std::string object);

  const cluster::WatchRequest request_;
  const std::string collection_;
  const Options options_;
  bool streaming_;          // the server has not refused streaming lists
  bool initial_;            // initial events are not complete yet
  bool announced_ = false;  // RESTART was sent for the initial events
  bool listing_ = false;    // the current step is a page of a list
  bool looking_ = false;    // the current step asks for the current version
  bool looked_ = true;      // no stream has begun since the version was asked for
  bool progress_ = false;   // this connection has delivered something
  bool broken_ = false;     // this connection has delivered an ERROR
  bool absent_ = false;     // it was reported that the resource is not installed
  std::chrono::milliseconds retry_after_{0};
  std::string version_;               // changes continue after this version
  std::string continue_;              // position in a list
  std::string last_trouble_;          // the same trouble is reported once...
  bool shown_since_trouble_ = false;  // ... and again when an object was shown in between
  Backoff backoff_;
  Lines lines_;
  uint32_t credit_ = 0;
  std::deque<Item> waiting_;
  size_t waiting_bytes_ = 0;
};

}  // namespace davit::cluster_kubernetes
