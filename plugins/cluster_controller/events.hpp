// EventRecorder: writes Events of Kubernetes at a Cluster, as client-go's recorder does. An event
// that was there within the last ten minutes is counted up; a Cluster that has used 25 events gets
// one more every five minutes. Events are news for people: one that cannot be written is dropped.
// All members are called on one strand.
#pragma once

#include <map>
#include <memory>

#include <davit/actuator.hpp>
#include <davit/cluster.hpp>
#include <davit/operation.hpp>
#include <davit/outstanding.hpp>
#include <davit/pace.hpp>

namespace davit::clusters {

class EventRecorder : public std::enable_shared_from_this<EventRecorder> {
 public:
  EventRecorder(Host host, Strand strand, cluster::Client cluster, Outstanding& outstanding)
      : host_(host), strand_(std::move(strand)), cluster_(cluster), outstanding_(outstanding) {}

  struct About {
    std::string ns, name, uid;
  };
  void record(const About& about, const actuator::Event& event);
  // Nothing is written any more.
  void close();

 private:
  using Time = std::chrono::nanoseconds;
  struct Told {
    int64_t first_unix_ms = 0;
    uint64_t times = 0;
    Time last{0};
  };

  bool may(const std::string& uid, Time now);
  void forget_old(Time now);
  void send(const cluster::Request& request, uint64_t hash);

  const Host host_;
  const Strand strand_;
  const cluster::Client cluster_;
  Outstanding& outstanding_;
  const Operation operation_;
  std::map<uint64_t, Told> told_;      // by a hash of what they say
  std::map<std::string, Pace> paces_;  // by uid
  bool closed_ = false, failing_ = false;
};

}  // namespace davit::clusters
