// The event loop: one thread that owns the transfers, the requests and the watches of an instance.
// Other threads give it tasks.
#pragma once

#include <atomic>
#include <mutex>

#include "discovery.hpp"
#include "requests.hpp"
#include "watch_flow.hpp"

namespace davit::cluster_kubernetes {

class Engine {
 public:
  struct Options {
    Transport::Options transport;
    Requests::Limits requests;
    WatchFlow::Options watch;
    size_t requests_max = 10'000;
    size_t watch_buffer_bytes = 1u << 20;
  };
  using Done = std::function<void(cluster::Response)>;

  // `read_access` reads the access again from its source.
  Engine(const Host& host, Access access, ReadAccess read_access, Options options);

  // Runs until stop(). When it returns, every request has been answered and every watch has ended.
  void run();
  // Runs on the calling thread until `done` returns true, and ends no request or watch. For
  // requests before run().
  void run_until(const std::function<bool()>& done);
  void stop();  // [any]

  // These are [any]. The engine's thread calls the callbacks. A request that cannot be accepted is
  // answered at once, on the caller's thread. One that its caller gives up ends its transfer.
  void request(const Op& op, cluster::Request request, Done done);
  void discover(const Op& op, std::string group, std::string version, std::string kind, Done done);
  void identity(const Op& op, Done done);
  void version(const Op& op, Done done);  // the API server's, as it reports it
  uintptr_t watch(cluster::WatchRequest request, uint32_t credit, cluster::Watcher watcher);
  void credit(uintptr_t id, uint32_t more);
  void cancel(uintptr_t id);

 private:
  struct Watching {
    WatchFlow flow;
    cluster::Watcher watcher;
    Transport::Id transfer = 0;       // 0: there is none
    std::chrono::nanoseconds due{0};  // time of the next step, if there is no transfer
    bool stopped_reading = false;
    // When the server accepted the stream. Empty again after flow.opened().
    std::optional<std::chrono::nanoseconds> opened;
    std::string refused;  // the API server's refusal; empty: none
  };
  using Task = std::function<void()>;

  bool post(Task task);
  // Submits a request. [any] Enforces requests_max.
  void submit(Transport::Spec spec, const Op& op, std::function<void(Outcome)> done);
  void send(Transport::Spec spec, std::function<void(Outcome)> done);  // on the engine's thread
  void turn();
  void read_access_again();
  void run_tasks();
  void run_watches();
  void step(uintptr_t id, Watching& w);
  std::chrono::milliseconds wait_time() const;
  void note(const Outcome& outcome);
  void show_health();
  void discover_resources(const std::string& group, const std::string& version,
                          const std::string& kind, Done done);
  void end_all();

  const Host host_;
  std::shared_ptr<const Access> access_;
  const ReadAccess read_access_;
  const Options options_;
  Token token_;
  Transport transport_;
  Requests requests_;
  Discovery discovery_;
  std::map<uintptr_t, Watching> watches_;
  bool answering_ = true;  // whether the API server answered the last request
  std::string unanswered_why_, unauthorized_;
  std::string health_;       // last reported; empty: serving
  uint64_t unanswered_ = 0;  // transfers without an answer since the last answer
  std::chrono::nanoseconds expired_at_{0};
  std::chrono::nanoseconds access_read_at_{0};
  bool access_in_doubt_ = false;  // read the access again soon
  bool access_unreadable_ = false;

  std::mutex mutex_;  // guards the next two
  std::vector<Task> tasks_;
  bool closed_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> accepted_{0};
  std::atomic<uintptr_t> next_watch_{1};
  std::atomic<uint64_t> next_request_{1};
  Metric seconds_, running_, waiting_;
};

}  // namespace davit::cluster_kubernetes
