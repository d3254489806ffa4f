// What everybody who takes part shares: where the server is, what there is to write, when to go on
// and when to come to rest, what went wrong; and how the two kinds' messages are made and read.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <random>

#include "bench/wire.hpp"
#include "facts.hpp"

namespace davit::torture {

struct Place {
  std::vector<std::string> servers, operators;  // where agents and operators come to
  std::string token;
  // The file of SQLite, a connection string of PostgreSQL, or nothing: nobody can look into it.
  std::string database;
  unsigned writers = 6;
  unsigned seed = 1;
  unsigned patience = 1;                    // waits are this many times longer
  std::chrono::milliseconds pause_max{40};  // of a writer, between two calls
  size_t filler = 400;                      // bytes that make a deployment larger
};

// Kinds as data: how a spec is written, and what of its apply message tells one write from another.
struct Kind {
  std::string name;
  std::string (*spec)(const std::string& id, const std::string& name, const std::string& content,
                      size_t filler);
  std::string (*content)(const std::string& payload);
};
const std::array<Kind, 2>& kinds();
std::string content_of(const std::string& kind, const std::string& payload);

class Course {
 public:
  explicit Course(Place at) : place(std::move(at)) {}

  const Place place;
  uint64_t tick() { return ++clock_; }
  std::atomic<bool> writing{true};
  // Nobody writes any more: no more pauses, everybody catches up.
  std::atomic<bool> resting{false};
  std::atomic<bool> over{false};
  // Something is wrong that needs no audit.
  void fault(Fault fault);
  std::vector<Fault> faults() const;

 private:
  std::atomic<uint64_t> clock_{0};
  mutable std::mutex mutex_;
  std::vector<Fault> faults_;
};

using Random = std::mt19937;
inline unsigned between(Random& random, unsigned low, unsigned high) {
  return low + static_cast<unsigned>(random() % (high - low + 1));
}

// A connection of its own that looks for its server again at once.
std::shared_ptr<grpc::Channel> connect(const std::string& target);
// The doors of servers that do the same. One thread at a time.
class Doors {
 public:
  Doors(const std::vector<std::string>& targets, unsigned seed);
  // One of them, by chance.
  const std::shared_ptr<grpc::Channel>& any() { return channels_[random_() % channels_.size()]; }

 private:
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  Random random_;
};
// For a second at most. gRPC goes on with a connection only while somebody waits: of calls that
// fail at once none comes about on a busy machine.
void wait_for_connection(grpc::Channel& channel);
bench::Deadline in(std::chrono::milliseconds time);

}  // namespace davit::torture
