// Writes changes at a steady rate, whatever the answers take, and keeps when each was asked for and
// when it was answered.
#pragma once

#include <grpcpp/generic/generic_stub.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "watch_wire.hpp"
#include "wire.hpp"

namespace davit::bench {

class PacedWriter {
 public:
  // The changes are numbered from `after` + 1 on; change n goes to region n modulo `regions`. A
  // store that has seen a number may have nothing to change when it comes again.
  PacedWriter(const WatchWire& wire, const std::string& server, size_t regions, double per_second,
              size_t changes_max, uint64_t after = 0);
  ~PacedWriter();
  void start();
  void stop();  // and waits for the answers
  // Writes one change to every region at once, and waits; throws when one is refused.
  void write_everywhere();

  // When it was asked for; nothing if the number was not written.
  std::optional<Clock::time_point> asked(uint64_t number) const;
  // When its writer knew that it is committed; nothing if that is not so.
  std::optional<Clock::time_point> answered(uint64_t number) const;
  uint64_t written() const { return next_; }
  // Milliseconds that the answers to writes asked for from `begin` on took, in ascending order;
  // those that failed are left out.
  std::vector<double> answers_since(Clock::time_point begin) const;
  size_t failures() const { return failures_; }
  std::string last_failure() const;

 private:
  void send();

  const WatchWire& wire_;
  const std::string path_;
  const size_t regions_;
  const uint64_t after_;
  const double per_second_;
  grpc::GenericStub stub_;
  std::vector<Clock::time_point> asked_, answered_;  // by number - after_
  std::atomic<uint64_t> next_;
  std::atomic<size_t> failures_{0};
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  size_t outstanding_ = 0;
  std::string last_failure_;
  std::thread thread_;
};

// The value below which `share` of the sorted values lie; 0 without any.
double quantile(const std::vector<double>& sorted, double share);

}  // namespace davit::bench
