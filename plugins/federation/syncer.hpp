// Syncer: keeps the objects of one resource, in one namespace or in all, equal in two clusters. It
// watches both sides, and for each object that has changed it asks decide what to do and does it,
// one request at a time for each object. Syncers know nothing of each other, so trouble with one
// resource holds no other. All members are called on one strand.
#pragma once

#include <map>
#include <memory>
#include <set>

#include <davit/operation.hpp>

#include "controller/keyed_queue.hpp"
#include "controller/object_cache.hpp"
#include "controller/watched.hpp"
#include "guard.hpp"
#include "report.hpp"
#include "settings.hpp"

namespace davit::federation {

// What all syncers share.
struct Surroundings {
  Host host;
  Strand strand;
  Limits limits;
  cluster::Client upstream, downstream;  // as the settings call them
  Outstanding& outstanding;
  std::function<void()> told;  // trouble() may have changed
  std::shared_ptr<Holds> holds;
  bool rehearses = false;  // everything is decided and nothing written
};

class Syncer : public std::enable_shared_from_this<Syncer> {
 public:
  Syncer(const Surroundings& around, Rules rules, std::string ns);
  void start();
  // Ends its watches and requests. No object is touched.
  void close();

  const Rules& rules() const { return rules_; }
  // What does not go as it should, for people; empty: nothing.
  std::string trouble() const;
  ResourceReport report(const Question& question) const;
  // Lets the deletes go that are held. Returns their number.
  size_t release();

 private:
  using Time = std::chrono::nanoseconds;
  enum Side : size_t { upstream = 0, downstream = 1 };
  // Writes of what was accepted before: somebody has changed or deleted it. So that two who fight
  // do not keep both clusters busy, each write of it waits longer.
  struct Repairs {
    Backoff backoff;
    Time until{0};  // the next waits until then
  };
  // Of an object that is not in step.
  struct Open {
    Time since{0};
    Standing standing = Standing::in_step;
    Does does = Does::nothing;
    std::string why;
  };
  // What is remembered of one object beside the caches.
  struct Memory {
    Written written;
    Time created_until{0};  // no longer is waited for what was created
    std::shared_ptr<const json::object> hidden;
    Time ask_again{0};          // then what was refused or hidden is asked for anew; 0: nothing was
    std::string trouble;        // what the log has been told
    Repairs repairs[2];         // by the side that is written
    bool from_upstream = true;  // which side's event is looked at
    bool looked_for = false;    // in a rehearsal: whether the selector hides it
    std::unique_ptr<Open> open;  // NULL: it is in step
  };
  // One look at one object.
  struct Look {
    std::string key;
    Action action;
    size_t steps = 0;
    bool stuck = false;
  };
  struct End {
    End(cluster::Client c, controller::ObjectCache::Reduce reduce, Time now)
        : client(std::move(c)), cache(std::move(reduce)), since(now) {}

    cluster::Client client;
    std::shared_ptr<controller::Watched> watch;
    controller::ObjectCache cache;
    bool was_complete = false, known_before = false;
    Time since;         // when was_complete changed
    Time caught_up{0};  // until then comes what an interrupted watch has missed
    Metric up, objects;
  };

  void event(Side side, int32_t type, std::string_view object);
  void has_changed(Side side, const std::string& key);
  void pump();
  void step(Look look);
  // What is to be done if nothing is held, and with the guard.
  Action decided(const std::string& key, Memory& memory) const;
  Action judged(const std::string& key, Memory& memory) const;
  void note(Memory& memory, const Action& action);
  void note(Memory& memory, Standing standing, Does does, const std::string& why);
  // After a list of upstream: whether it has lost too much.
  void guard();
  SideReport report_of(const End& end) const;
  void held_no_longer(const std::string& key);
  void rehearse(Look look);
  cluster::Request request_of(const Look& look) const;
  void send(Look look);
  void answered(Look look, const cluster::Response& r);
  void done(Look look, const cluster::Response& r);
  // Reads the object anew that the request was about.
  void accepted(Memory& memory, Side side, size_t& before, size_t hash);
  void read(Look look);
  void was_read(const Look& look, const cluster::Response& r);
  void refused(Look look, const cluster::Response& r);
  void failing(const Look& look, const std::string& why, std::chrono::milliseconds retry_after);
  void fail(const Look& look, std::chrono::milliseconds retry_after = {});
  void finish(const Look& look);
  void forget_if_idle(const std::string& key);
  void call(Side side, const cluster::Request& request,
            std::function<void(cluster::Response)> done);
  void say_stuck(const std::string& key, Memory& memory, const std::string& why);
  void say_no_longer_stuck(const std::string& key, Memory& memory);
  void say_failing(Does does, const std::string& why);
  void say_working(Does does);

  static Side side_of(const Action& action) {
    return action.does == Does::status ? upstream : downstream;
  }
  Time now() const { return around_.host.now(); }

  const Surroundings around_;
  const Rules rules_;
  const std::string ns_;
  const Operation operation_;
  End ends_[2];
  controller::KeyedQueue queue_;
  std::map<std::string, Memory> memory_;
  std::set<std::string> stuck_;          // keys
  std::map<Does, std::string> failing_;  // what requests fail for
  // A right that is missing is asked for by one object at a time, and not by all of them.
  std::map<Does, std::pair<Backoff, Time>> denied_;
  Timer timer_;
  bool closed_ = false, pumping_ = false;
  Holds::Keys held_;                             // whose downstream objects are not deleted
  Holds::Keys released_;                         // of them by an operator, and not deleted yet
  bool unguarded_ = true;                        // upstream has been listed since guard() looked
  std::array<size_t, standings.size()> open_{};  // how many objects stand like this
  Metric syncs_[2], errors_[2], stuck_gauge_, held_gauge_;
  std::map<Standing, Metric> open_gauges_;
  std::map<Does, Metric> requests_;
};

}  // namespace davit::federation
