#include "reader.hpp"

#include <algorithm>
#include <thread>

#include "ctrl/v1/cluster.pb.h"
#include "davit/v1/agent.pb.h"

namespace davit::torture {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds before_next{30};
constexpr milliseconds between_reports{700};

// What names the object in a kind's delete message; what its apply message is called by.
Delivery from_state(const ctrl::v1::DeploymentState& state) {
  if (!state.has_apply()) return {state.delete_().k8s_name(), {}, {}, state.version(), false};
  return {state.apply().k8s_name(), state.apply().deployment_id(),
          state.apply().SerializeAsString(), state.version(), true};
}
Delivery from_state(const ctrl::v1::CiliumNetworkPolicyState& state) {
  if (!state.has_apply()) return {state.delete_().k8s_name(), {}, {}, state.version(), false};
  return {state.apply().k8s_name(), state.apply().cilium_network_policy_id(),
          state.apply().SerializeAsString(), state.version(), true};
}

Cursor from_wire(const v1::Cursor& cursor) {
  return {cursor.incarnation(), cursor.version()};
}

void take(Line& line, const v1::Frame& frame, uint64_t now) {
  // The first frame says what the stream is; everything else comes before the frame's bookmark.
  const auto& mark = frame.bookmark();
  const bool begins = frame.has_bookmark() && (mark.type() == v1::Bookmark::TYPE_BEGIN_SNAPSHOT ||
                                               mark.type() == v1::Bookmark::TYPE_BEGIN_TAIL);
  if (begins) line.begins(mark.type() == v1::Bookmark::TYPE_BEGIN_SNAPSHOT, from_wire(mark.at()));
  for (const auto& r : frame.records()) {
    line.delivered(now, {r.name(), r.id(), r.has_apply() ? content_of(frame.kind(), r.apply()) : "",
                         r.version(), r.has_apply()});
  }
  if (!frame.has_bookmark() || begins) return;
  if (mark.type() == v1::Bookmark::TYPE_SNAPSHOT_END) {
    line.snapshot_end(now, from_wire(mark.at()), mark.live_count());
  } else {
    line.bookmark(now, from_wire(mark.at()));
  }
}

}  // namespace

Reader::Reader(Course& course, std::string region, Wire wire, std::vector<std::string> kinds,
               Habits habits)
    : course_(course), region_(std::move(region)), wire_(wire), habits_(std::move(habits)) {
  name_ = region_ + "/" + (wire == Wire::davit_v1 ? "davit.v1" : "ctrl.v1") + "/" + habits_.name;
  for (auto& kind : kinds) lines_.emplace(std::move(kind), wire);
}

void Reader::run(unsigned number) {
  Doors doors(course_.place.servers, course_.place.seed * 3000 + number);
  Random random(course_.place.seed * 2000 + number);
  while (!course_.over && !arrived_) {
    const auto& channel = doors.any();
    try {
      wait_for_connection(*channel);
      ++streams;
      wire_ == Wire::davit_v1 ? watch_davit(random, channel) : watch_ctrl(random, channel);
    } catch (const bench::Ended& e) {
      if (e.code == grpc::OUT_OF_RANGE) {
        refused(e.what());
      } else if (e.code != grpc::UNAVAILABLE && e.code != grpc::DEADLINE_EXCEEDED &&
                 e.code != grpc::CANCELLED && e.code != grpc::UNKNOWN && e.code != grpc::INTERNAL) {
        course_.fault({std::string("a watch was refused: ") + e.what(), {{}, region_}, {}, name_});
        return;
      }
    }
    if (!judge()) return;
    if (course_.resting && at_goal()) arrived_ = true;
    auto away = before_next;
    if (!course_.resting) away += milliseconds(between(random, 0, habits_.away_max.count()));
    for (; away.count() > 0 && !course_.over; away -= before_next)
      std::this_thread::sleep_for(std::min(away, before_next));
  }
}

void Reader::watch_davit(Random& random, const std::shared_ptr<grpc::Channel>& channel) {
  v1::WatchRequest request;
  request.set_agent(name_);
  for (auto& [kind, line] : lines_) {
    const Cursor from = line.opened();
    auto* subscription = request.add_subscriptions();
    subscription->set_kind(kind);
    subscription->mutable_cursor()->set_incarnation(from.incarnation);
    subscription->mutable_cursor()->set_version(from.version);
  }
  bench::Stream<v1::Frame> stream(channel, "/davit.v1.AgentService/Watch", request,
                                  course_.place.token, region_, deadline(random));
  for (v1::Frame frame;;) {
    stream.next(&frame);
    const auto line = lines_.find(frame.kind());
    if (line == lines_.end()) {
      return course_.fault({"a frame of another kind came", {frame.kind(), region_}, {}, name_});
    }
    if (frame.has_end()) return ended(line->second, frame.end().code(), frame.end().message());
    take(line->second, frame, course_.tick());
    records += static_cast<uint64_t>(frame.records_size());
    if (!judge() || pause(random)) return;
    if (habits_.reports) report(channel);
  }
}

void Reader::watch_ctrl(Random& random, const std::shared_ptr<grpc::Channel>& channel) {
  using Deployments = ctrl::v1::WatchDeploymentsRequest;
  using Policies = ctrl::v1::WatchCiliumNetworkPoliciesRequest;
  if (lines_.begin()->first == "deployment") {
    watch_states<ctrl::v1::DeploymentState, Deployments>(random, channel, "WatchDeployments");
  } else {
    watch_states<ctrl::v1::CiliumNetworkPolicyState, Policies>(random, channel,
                                                               "WatchCiliumNetworkPolicies");
  }
}

template <class State, class Request>
void Reader::watch_states(Random& random, const std::shared_ptr<grpc::Channel>& channel,
                          const std::string& path) {
  auto& [kind, line] = *lines_.begin();
  Request request;
  request.set_region(region_);
  request.set_version_last_seen(line.opened().version);
  bench::Stream<State> stream(channel, "/ctrl.v1.ClusterService/" + path, request,
                              course_.place.token, region_, deadline(random));
  for (State state;;) {
    stream.next(&state);
    const uint64_t now = course_.tick();
    if (state.state_case() == State::STATE_NOT_SET) {
      line.bookmark(now, {0, state.version()});
    } else {
      Delivery delivery = from_state(state);
      if (delivery.live) delivery.content = content_of(kind, delivery.content);
      line.delivered(now, delivery);
      ++records;
    }
    if (!judge() || pause(random)) return;
  }
}

void Reader::report(const std::shared_ptr<grpc::Channel>& channel) {
  if (bench::Clock::now() - reported_ < between_reports) return;
  reported_ = bench::Clock::now();
  v1::ProgressRequest request;
  request.set_agent(habits_.name);
  request.set_software("torture");
  request.set_epoch(1);
  for (const auto& [kind, line] : lines_) {
    if (line.in_snapshot()) continue;
    auto* progress = request.add_kinds();
    progress->set_kind(kind);
    progress->mutable_applied()->set_incarnation(line.cursor().incarnation);
    progress->mutable_applied()->set_version(line.cursor().version);
  }
  // Whether it arrives is not what matters here: the next one says the same.
  try {
    (void)bench::call<v1::ProgressResponse>(channel, "/davit.v1.AgentService/Progress", request,
                                            course_.place.token, region_,
                                            in(seconds(10) * course_.place.patience));
  } catch (const bench::Ended& e) {
    if (e.code == grpc::INVALID_ARGUMENT || e.code == grpc::PERMISSION_DENIED ||
        e.code == grpc::UNIMPLEMENTED) {
      course_.fault({std::string("progress was refused: ") + e.what(), {{}, region_}, {}, name_});
    }
  }
}

bool Reader::pause(Random& random) {
  if (course_.over) return true;
  if (course_.resting) {
    if (at_goal()) arrived_ = true;
    return arrived_;
  }
  if (habits_.nap_max.count() > 0)
    std::this_thread::sleep_for(milliseconds(between(random, 1, habits_.nap_max.count())));
  return false;
}

bool Reader::at_goal() const {
  return std::all_of(lines_.begin(), lines_.end(), [&](const auto& l) {
    const auto goal = goals_.find(l.first);
    return !l.second.in_snapshot() &&
           (goal == goals_.end() || l.second.cursor().version >= goal->second);
  });
}

// The server has ended one kind. The others could go on, but this reader begins again with all.
void Reader::ended(Line& line, int32_t code, const std::string& why) {
  if (code != grpc::OUT_OF_RANGE)
    throw bench::Ended("Watch", {static_cast<grpc::StatusCode>(code), why});
  ++refusals;
  line.refused(why);
}

// The server refuses the whole stream.
void Reader::refused(const std::string& why) {
  ++refusals;
  for (auto& [kind, line] : lines_) line.refused(why);
}

bench::Deadline Reader::deadline(Random& random) const {
  return in(milliseconds(between(random, habits_.stream_min.count(), habits_.stream_max.count())) *
            (course_.resting ? course_.place.patience * 2 : 1));
}

// False: the wire alone shows that something is wrong.
bool Reader::judge() {
  bool right = true;
  for (const auto& [kind, line] : lines_) {
    for (const auto& what : line.faults()) course_.fault({what, {kind, region_}, {}, name_});
    right &= line.faults().empty();
  }
  return right;
}

}  // namespace davit::torture
