// Rules: what federation may write, judged when it has been carried out, by all that both clusters
// have ever had. README.md names the rules.
#pragma once

#include <array>

#include "../story.hpp"
#include "truth.hpp"

namespace davit::simulation::federation {

class Rules {
 public:
  // Who writes: the federation of one robot, to one of its two clusters.
  struct Writer {
    size_t robot;
    bool cloud;
  };

  Rules(Story& story, std::function<Time()> now) : story_(story), now_(std::move(now)) {}
  Truth& cloud() { return cloud_; }
  Truth& of(size_t robot) { return robots_[robot]; }
  const Truth& upstream(const Kind& kind, size_t robot) const {
    return kind.swapped ? robots_[robot] : cloud_;
  }
  const Truth& downstream(const Kind& kind, size_t robot) const {
    return kind.swapped ? cloud_ : robots_[robot];
  }

  void asked(const Writer& by, const cluster::Request& q);
  // Before the watches of the cluster show it.
  void carried_out(const Writer& by, const cluster::Request& q, const cluster::Response& r);
  // The cluster (robots: none, the cloud) has a new version of this object.
  void changed(std::optional<size_t> robot, const Kind& kind, const std::string& name,
               uint64_t version);
  // Federation of this robot has a reason to look at everything.
  void stirred(size_t robot) { ++stirred_[robot]; }
  // What it sees until then may be old, beginning now.
  void sees_late(size_t robot, Time until) {
    auto& late = late_[robot];
    if (now_() > late.second) late.first = now_();
    late.second = std::max(late.second, until);
  }
  uint64_t requests() const { return requests_; }
  uint64_t requests_of(const Kind& kind) { return requests_of_[&kind]; }

 private:
  using Key = std::tuple<size_t, const Kind*, std::string>;  // a robot's object
  // What is known of the version that was copied last: it was this one or a later one.
  struct Copied {
    std::string uid;  // of the object that was written
    size_t robot = 0;
    uint64_t at_least = 0;
  };
  // Requests that are allowed without another reason.
  struct Allowance {
    double left = 0;
    Time at{0};
    uint64_t stirred = 0;
    bool known = false;
  };

  void wrote_down(const Writer& by, const Kind& kind, const std::string& name,
                  const std::string& verb, const json::value& before, const json::value& after);
  void wrote_up(const Writer& by, const Kind& kind, const std::string& name,
                const json::value& before, const json::value& after);
  void check_status(const Writer& by, const Kind& kind, const std::string& name,
                    const json::value& before, const json::value& after);
  std::string wrong_origin(const Writer& by, const Kind& kind, const json::value& before,
                           const json::value& after);
  std::string not_to_be_deleted(size_t robot, const Kind& kind, const std::string& name,
                                const json::value& object) const;
  bool of_others(size_t robot, const Kind& kind, const json::value& object) const;
  void fault(const Writer& by, const Kind& kind, const std::string& name, const std::string& what);
  void allow(const Key& key, double more);

  Story& story_;
  const std::function<Time()> now_;
  Truth cloud_;
  std::array<Truth, robots> robots_;
  std::map<Key, Copied> specs_, statuses_;
  // Of the cloud (`robots`) and of each robot, as writes name them.
  std::map<size_t, std::string> origins_;
  std::map<std::string, uint64_t> made_from_;  // uids of what was made: the version upstream
  std::map<Key, Allowance> allowances_;
  std::array<uint64_t, robots> stirred_{};
  std::array<std::pair<Time, Time>, robots> late_{};
  std::map<const Kind*, uint64_t> requests_of_;
  std::set<std::pair<size_t, uint64_t>> own_;  // versions that federation has written, by cluster
  uint64_t requests_ = 0;
};

}  // namespace davit::simulation::federation
