// The event loop: one thread that owns the transfers, the requests and the watches of an instance.
// Everybody else hands it tasks.
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

  Engine(const Host& host, Access access, Options options);

  // Runs until stop(); then every request has been answered and every watch has ended.
  void run();
  void stop();  // [any]

  // --- [any]; answers come on the engine's thread
  // ------------------------------------------------------
  void request(cluster::Request request, Done done);
  void discover(std::string group, std::string version, std::string kind, Done done);
  void identity(Done done);
  void version(int64_t deadline_ns, Done done);  // the server's, as it says it
  uintptr_t watch(cluster::WatchRequest request, uint32_t credit, cluster::Watcher watcher);
  void credit(uintptr_t id, uint32_t more);
  void cancel(uintptr_t id);

 private:
  struct Watching {
    WatchFlow flow;
    cluster::Watcher watcher;
    Transport::Id transfer = 0;       // 0: none under way
    std::chrono::nanoseconds due{0};  // of the next step, when none is
    bool stopped_reading = false;
  };
  using Task = std::function<void()>;

  bool post(Task task);
  // A request by path, from any thread: the queue is bounded here.
  void submit(Transport::Spec spec, int64_t deadline_ns, std::function<void(Outcome)> done);
  void send(Transport::Spec spec, std::function<void(Outcome)> done);  // on the engine's thread
  void run_tasks();
  void run_watches();
  void step(uintptr_t id, Watching& w);
  std::chrono::milliseconds wait_time() const;
  void note(const Outcome& outcome);
  void discover_resources(const std::string& group, const std::string& version,
                          const std::string& kind, Done done);
  void end_all();

  const Host host_;
  const Access access_;
  const Options options_;
  Token token_;
  Transport transport_;
  Requests requests_;
  Discovery discovery_;
  std::map<uintptr_t, Watching> watches_;
  bool answering_ = true;    // the API server answered last
  uint64_t unanswered_ = 0;  // since when it did not
  std::chrono::nanoseconds expired_at_{0};

  std::mutex mutex_;  // for the two below
  std::vector<Task> tasks_;
  bool closed_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> accepted_{0};
  std::atomic<uintptr_t> next_watch_{1};
  Metric seconds_, running_, waiting_;
};

}  // namespace davit::cluster_kubernetes
