// Sends requests over kept-alive connections: a limited number at once, and a limited number a
// second. The others wait in a queue that the engine bounds (requests_max), in their order. They
// also wait for credentials. Only the engine's thread uses it.
#pragma once

#include <deque>

#include "credentials.hpp"
#include "limit.hpp"
#include "transport.hpp"

namespace davit::cluster_kubernetes {

// The outcome of a request that was not sent to its end.
Outcome not_sent(Outcome::Transport how, std::string error);

class Requests {
 public:
  static constexpr const char* given_up = "the caller has given up";
  using Time = std::chrono::nanoseconds;
  using Done = std::function<void(Outcome)>;
  struct Limits {
    size_t connections_max = 64;
    std::chrono::milliseconds timeout{30'000};
  };

  // The others outlive it. `waited` hears how long each request has waited when it is sent.
  Requests(Transport& transport, Credentials& credentials, Limit& limit, Limits limits,
           std::function<void(Time)> waited)
      : transport_(transport),
        credentials_(credentials),
        limit_(limit),
        limits_(limits),
        waited_(std::move(waited)) {}

  // `key` is the caller's, and of no other request.
  void add(uint64_t key, Transport::Spec spec, Time deadline, Time now, Done done);
  // Answers the request with CANCELLED and ends its transfer, if it is not answered yet.
  void cancel(uint64_t key);
  // Sends what may be sent now.
  void go_on(Time now);
  // Answers the waiting requests whose deadline has passed.
  void expire(Time now);
  // Answers all requests, running and waiting, with this message.
  void end_all(const std::string& message);

  size_t waiting() const { return waiting_.size(); }
  size_t running() const { return running_.size(); }
  // When the limit lets the first of those that wait go; Time::max(): it waits for something else.
  Time due() const;

 private:
  struct Waiting {
    uint64_t key;
    Transport::Spec spec;
    Time deadline, since;
    Done done;
    bool again = false;  // it was sent with credentials that were not accepted
  };
  struct Running {
    Transport::Id transfer = 0;
    uint64_t generation = 0;  // of the credentials
    Time deadline{0};
    Done done;
    bool again = false;
  };
  void send(Waiting w);
  void ended(uint64_t key, Outcome outcome, Transport::Spec spec);
  Waiting first();

  Transport& transport_;
  Credentials& credentials_;
  Limit& limit_;
  const Limits limits_;
  const std::function<void(Time)> waited_;
  std::deque<Waiting> waiting_;
  std::optional<Time> reserved_;  // for the first of them
  std::map<uint64_t, Running> running_;
  Time now_{0};
};

}  // namespace davit::cluster_kubernetes
