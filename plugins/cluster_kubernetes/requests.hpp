// Sends requests over kept-alive connections, a limited number at once. The others wait in a queue
// that the engine bounds (requests_max). Only the engine's thread uses it.
#pragma once

#include <deque>

#include "transport.hpp"

namespace davit::cluster_kubernetes {

// The outcome of a request that was not sent to its end.
Outcome not_sent(Outcome::Transport how, std::string error);

class Requests {
 public:
  static constexpr const char* given_up = "the caller has given up";
  using Done = std::function<void(Outcome)>;
  struct Limits {
    size_t connections_max = 64;
    std::chrono::milliseconds timeout{30'000};
  };

  Requests(Transport& transport, Limits limits) : transport_(transport), limits_(limits) {}

  // `key` is the caller's, and of no other request.
  void add(uint64_t key, Transport::Spec spec, std::chrono::nanoseconds deadline,
           std::chrono::nanoseconds now, Done done);
  // Answers the request with CANCELLED and ends its transfer, if it is not answered yet.
  void cancel(uint64_t key);
  // Answers the waiting requests whose deadline has passed.
  void expire(std::chrono::nanoseconds now);
  // Answers all requests, running and waiting, with this message.
  void end_all(const std::string& message);

  size_t waiting() const { return waiting_.size(); }
  size_t running() const { return running_.size(); }

 private:
  struct Waiting {
    uint64_t key;
    Transport::Spec spec;
    std::chrono::nanoseconds deadline;
    Done done;
  };
  void send(Waiting w, std::chrono::nanoseconds now);
  void next();

  Transport& transport_;
  const Limits limits_;
  std::deque<Waiting> waiting_;
  std::map<uint64_t, std::pair<Transport::Id, Done>> running_;
  std::chrono::nanoseconds now_{0};
};

}  // namespace davit::cluster_kubernetes
