// What happened, in order: printed when a run fails, and compared when a run is repeated.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace davit::simulation {

class Story {
 public:
  explicit Story(std::function<std::chrono::nanoseconds()> now) : now_(std::move(now)) {}

  void tell(const std::string& line) {
    using std::chrono::duration;
    char time[32];
    std::snprintf(time, sizeof time, "%9.3f s  ", duration<double>(now_() - begin_).count());
    lines_.push_back(time + line);
  }
  // A rule was broken. The first one counts: what follows may be its consequence.
  void fault(const std::string& line) {
    tell("BROKEN: " + line);
    if (fault_.empty()) fault_ = line;
  }
  const std::string& broken() const { return fault_; }
  const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::function<std::chrono::nanoseconds()> now_;
  const std::chrono::nanoseconds begin_ = now_();
  std::vector<std::string> lines_;
  std::string fault_;
};

}  // namespace davit::simulation
