// WatchTable: the watches of an instance and their transfers. A watch has one part, or one for each
// namespace that the agent is restricted to. The engine owns it and calls it on its thread.
#pragma once

#include "credentials.hpp"
#include "limit.hpp"
#include "merge.hpp"
#include "restriction.hpp"
#include "transport.hpp"
#include "watch_flow.hpp"

namespace davit::cluster_kubernetes {

class WatchTable {
 public:
  struct Options {
    WatchFlow::Options flow;
    size_t buffer_bytes = 1u << 20;             // of one watch that may wait for credit
    std::chrono::milliseconds timeout{30'000};  // until the first header of a stream
  };
  struct Hooks {
    std::function<void(const Outcome&)> note;  // a transfer has ended
    std::function<void()> health;              // refused() may be another
  };

  // The others outlive it.
  WatchTable(const Host& host, Transport& transport, Credentials& credentials, Limit& limit,
             const Restriction& restriction, Options options, Hooks hooks)
      : host_(host),
        transport_(transport),
        credentials_(credentials),
        limit_(limit),
        restriction_(restriction),
        options_(options),
        hooks_(std::move(hooks)) {}

  void add(uintptr_t id, const cluster::WatchRequest& request, uint32_t credit,
           cluster::Watcher watcher);
  void grant(uintptr_t id, uint32_t more);
  void cancel(uintptr_t id);
  void end_all();

  // Delivers what has come, and begins the transfers that are due. The watchers' callbacks do not
  // change the table.
  void turn();
  // When turn() has something to do without a transfer; Time::max(): never.
  std::chrono::nanoseconds due() const;
  // What the API server says to a watch that it refuses; empty: it refuses none.
  std::string refused() const;

 private:
  using Time = std::chrono::nanoseconds;
  struct Part {
    std::unique_ptr<WatchFlow> flow;
    std::string ns;
    Transport::Id transfer = 0;  // 0: there is none
    Time due{0};                 // time of the next step, if there is no transfer
    bool reserved = false;       // `due` was given by the limit
    bool stopped_reading = false;
    std::optional<Time> opened;  // when the stream was accepted; empty again after flow.opened()
    std::string refused;         // the API server's refusal; empty: none
    uint64_t generation = 0;     // of the credentials of the transfer
    std::optional<Transport::Spec> again;  // is sent once more with other credentials
    bool sent_again = false;
  };
  struct Watch {
    cluster::WatchRequest request;
    cluster::Watcher watcher;
    Merge merge;
    uint32_t credit;
    std::vector<Part> parts;  // none: the watch can never work
  };

  Part make_part(const cluster::WatchRequest& request, std::string ns) const;
  void deliver(Watch& watch);
  void restart_others(Watch& watch, size_t but);
  void turn_part(uintptr_t id, size_t n, Part& part);
  bool may_start(Part& part);
  void step(uintptr_t id, size_t n, Part& part);
  void start(uintptr_t id, size_t n, Part& part, Transport::Spec spec);
  void ended(uintptr_t id, size_t n, Outcome outcome, Transport::Spec spec);
  void finish(Part& part, const Outcome& outcome);
  void ask_for_scope(uintptr_t id, size_t n, Part& part, Outcome absent);
  Part* find(uintptr_t id, size_t n);
  bool has_room(const Part& part) const;

  const Host host_;
  Transport& transport_;
  Credentials& credentials_;
  Limit& limit_;
  const Restriction& restriction_;
  const Options options_;
  const Hooks hooks_;
  std::map<uintptr_t, Watch> watches_;
};

}  // namespace davit::cluster_kubernetes
