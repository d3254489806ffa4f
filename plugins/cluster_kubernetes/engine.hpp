// The event loop: one thread that owns the transfers, the requests and the watches of an instance.
// Other threads give it tasks.
#pragma once

#include <atomic>
#include <mutex>

#include "discovery.hpp"
#include "requests.hpp"
#include "watch_table.hpp"

namespace davit::cluster_kubernetes {

class Engine {
 public:
  struct Options {
    Transport::Options transport;
    Credentials::Rules credentials;
    Requests::Limits requests;
    WatchTable::Options watch;
    size_t requests_max = 10'000;
    int64_t requests_per_second = 0;  // 0: no limit
    int64_t requests_burst = 100;
    std::vector<std::string> namespaces;  // none: all
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
  // Why the API server does not accept the credentials; empty: it does. On the engine's thread.
  const std::string& unauthorized() const { return unauthorized_; }

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
  using Task = std::function<void()>;

  bool post(Task task);
  // Submits a request. [any] Enforces requests_max.
  void submit(Transport::Spec spec, const Op& op, std::function<void(Outcome)> done);
  void send(Transport::Spec spec, std::function<void(Outcome)> done);  // on the engine's thread
  void turn();
  void run_tasks();
  std::chrono::milliseconds wait_time() const;
  void note(const Outcome& outcome);
  std::string why_unauthorized(const Outcome& outcome) const;
  void show_health();
  void discover_resources(const std::string& group, const std::string& version,
                          const std::string& kind, Done done);
  void end_all();

  const Host host_;
  const Options options_;
  const Restriction restriction_;
  Token token_;
  Transport transport_;
  Credentials credentials_;
  Limit limit_;
  Requests requests_;
  WatchTable watches_;
  Discovery discovery_;
  bool answering_ = true;  // whether the API server answered the last request
  std::string unanswered_why_, unauthorized_;
  std::string health_;       // last reported; empty: serving
  uint64_t unanswered_ = 0;  // transfers without an answer since the last answer
  std::chrono::nanoseconds expired_at_{0};

  std::mutex mutex_;  // guards the next two
  std::vector<Task> tasks_;
  bool closed_ = false;
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> accepted_{0};
  std::atomic<uintptr_t> next_watch_{1};
  std::atomic<uint64_t> next_request_{1};
  Metric seconds_, waited_, running_, waiting_, received_;
};

}  // namespace davit::cluster_kubernetes
