// ReviewPace decides whether the API server may be asked about another token now. There is a pace
// for all, and one for each address; four seconds' worth may come at once. The last half of what is
// left for all is for addresses that have not asked lately, so that addresses which try tokens
// without end leave something to a pod that starts. Pure: its user locks it.
#pragma once

#include <string>
#include <unordered_map>

#include <davit/pace.hpp>

namespace davit::secrets_blob {

class ReviewPace {
 public:
  struct Limits {
    size_t per_second = 50, per_second_per_address = 5;
  };
  using Time = Pace::Time;
  enum class Verdict { now, too_many, too_many_of_address };
  // Addresses with a pace of their own. Beyond that, those that are new share one.
  static constexpr size_t addresses_max = 10'000;

  explicit ReviewPace(const Limits& limits);

  // With `now` the question counts. The other results change nothing.
  Verdict ask(const std::string& address, Time now);
  size_t addresses() const { return addresses_.size(); }

 private:
  Pace& pace_of(const std::string& address, Time now);

  const PaceLimits of_address_;
  Pace all_;
  Pace but_for_the_rested_;  // the same, with half of what may come at once
  std::unordered_map<std::string, Pace> addresses_;
  Pace others_;
};

}  // namespace davit::secrets_blob
