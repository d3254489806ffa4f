// A reader: an agent's watch of some kinds of a region, over one of the wires, with a line for
// each. It comes back from its cursors after every break, begins anew when it is refused, and says
// how far it is. Its habits make it quick, slow or mostly away.
#pragma once

#include <map>

#include "line.hpp"
#include "load.hpp"

namespace davit::torture {

struct Habits {
  std::string name;
  std::chrono::milliseconds stream_min, stream_max;  // how long a stream lasts at most
  std::chrono::milliseconds away_max;                // between streams
  std::chrono::milliseconds nap_max;                 // after each message
  bool reports = false;                              // Progress, now and then
};

class Reader {
 public:
  Reader(Course& course, std::string region, Wire wire, std::vector<std::string> kinds,
         Habits habits);

  // Until the course is over, or it has rested long enough to have everything: `goals` are set by
  // then.
  void run(unsigned number);
  // At rest: the version up to which each kind must be known. Any thread, before Course::resting.
  void goals(std::map<std::string, uint64_t> goals) { goals_ = std::move(goals); }

  // When run() has returned:
  const std::string& name() const { return name_; }
  const std::string& region() const { return region_; }
  const std::map<std::string, Line>& lines() const { return lines_; }
  std::atomic<uint64_t> records{0}, streams{0}, refusals{0};
  bool arrived() const { return arrived_; }

 private:
  void watch_davit(Random& random, const std::shared_ptr<grpc::Channel>& channel);
  void watch_ctrl(Random& random, const std::shared_ptr<grpc::Channel>& channel);
  template <class State, class Request>
  void watch_states(Random& random, const std::shared_ptr<grpc::Channel>& channel,
                    const std::string& path);
  void report(const std::shared_ptr<grpc::Channel>& channel);
  // After each message. True: this reader has done its part.
  bool pause(Random& random);
  bool at_goal() const;
  void ended(Line& line, int32_t code, const std::string& why);
  void refused(const std::string& why);
  bench::Deadline deadline(Random& random) const;
  bool judge();

  Course& course_;
  std::string region_, name_;
  Wire wire_;
  Habits habits_;
  std::map<std::string, Line> lines_;
  std::map<std::string, uint64_t> goals_;
  bench::Clock::time_point reported_{};
  std::atomic<bool> arrived_{false};
};

}  // namespace davit::torture
