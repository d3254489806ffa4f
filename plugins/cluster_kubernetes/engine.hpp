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

  // `read_access`: where the access came from, to be read again.
  Engine(const Host& host, Access access, ReadAccess read_access, Options options);

  // Runs until stop(); then every request has been answered and every watch has ended.
  void run();
  // Runs on the calling thread until `done` holds, and ends nothing. For what is asked before
  // run().
  void run_until(const std::function<bool()>& done);
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
    std::optional<std::chrono::nanoseconds> opened;  // since when it is, and is not known to go on
    std::string refused;                             // what the API server said; empty: it did not
  };
  using Task = std::function<void()>;

  bool post(Task task);
  // A request by path, from any thread: the queue is bounded here.
  void submit(Transport::Spec spec, int64_t deadline_ns, std::function<void(Outcome)> done);
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
  bool answering_ = true;  // the API server answered last
  std::string unanswered_why_, unauthorized_;
  std::string health_;       // as it was told last; empty: serving
  uint64_t unanswered_ = 0;  // since when it did not
  std::chrono::nanoseconds expired_at_{0};
  std::chrono::nanoseconds access_read_at_{0};
  bool access_in_doubt_ = false;  // it did not get us in
  bool access_unreadable_ = false;

  std::mutex mutex_;  // for the two below
  std::vector<Task> tasks_;
  bool closed_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> accepted_{0};
  std::atomic<uintptr_t> next_watch_{1};
  Metric seconds_, running_, waiting_;
};

}  // namespace davit::cluster_kubernetes
