// Trip: one key's way to the Kubernetes API and back: decode, validate, reconcile, compare with
// what is there, then one request after another in the kind's order. A trip has a worker's strand
// to itself and touches no table: it gets copies (Task) and gives back what it found (Report).
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_set>

#include <boost/json/value.hpp>

#include "observed.hpp"
#include "ownership.hpp"
#include "plan.hpp"
#include "settings.hpp"
#include "verdict.hpp"

namespace davit::applier {

// Objects that were ensured and need not be looked at again. Shared by all workers; any thread.
class Ensured {
 public:
  bool contains(const std::string& path) const;
  void add(const std::string& path);
  void forget(const std::string& path);

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> paths_;
};

// What all trips of an instance have in common.
struct Workshop {
  Workshop(Host h, cluster::Client c, Rules r)
      : host(h), cluster(std::move(c)), rules(std::move(r)) {}
  Host host;
  cluster::Client cluster;
  Rules rules;
  Ensured ensured;
  // No request before; of the host's clock, in nanoseconds.
  std::atomic<int64_t> paused_until{0};
  Metric applies, skips, deletes, repairs;
};

// How the cluster answered one request.
struct Answer {
  std::string like;  // verb and resource
  std::chrono::nanoseconds sent{0}, took{0};
  bool overloaded = false;
  bool of_webhook = false;  // it says so
  std::chrono::milliseconds retry_after{0};
};

enum class Coverage : uint8_t {
  none,
  begun,
  complete
};  // what a watch says about objects it has not shown

// Copies of all that one trip needs.
struct Task {
  struct Known {
    Text text;
    std::string resource_version;
    bool ours = false;  // attributed to this record
    // It is one of those whose change may end the record's being parked.
    bool grounds = false;
  };
  const kind::Client* kind = nullptr;
  Schema schema;
  std::vector<Coverage> coverage;  // by index of the kind's resources

  uint64_t slot = 0, version = 0;
  Wish wish = Wish::unknown;
  uint64_t incarnation = 0;  // of the store that it is read in; 0: the peer does not say
  uint64_t stream = 0;       // the incarnation that is read now
  uint64_t fence = 0;        // what was made of a later version is left alone
  std::shared_ptr<const History> history;
  std::shared_ptr<const Incarnations> strangers;
  Key key;
  std::string ns, name;
  Buffer payload;
  Buffer runs;                                   // what was applied last; may be empty
  bool look_only = false;                        // parked: say what is there, change nothing
  std::unordered_map<std::string, Known> known;  // by path
  AppliedObjects applied;
  Repairs repairs;
};

struct Report {
  static constexpr size_t npos = SIZE_MAX;
  enum class End : uint8_t { done, held, looked, parked, retry };
  uint64_t slot = 0, version = 0, incarnation = 0;
  Wish wish = Wish::unknown;
  End end = End::done;
  std::string why;  // parked, retry
  std::chrono::milliseconds retry_after{0};
  uint64_t unplaced = 0;  // an object names this incarnation; 0: none that is unknown
  // Retry: a right is refused, which an API server that has just started may do to anybody.
  bool right_refused = false;
  // Parked: the watch of the object that it is about; npos: of none. And what was seen of the
  // record's objects.
  size_t parked_on = npos;
  uint64_t grounds = 0;
  AppliedObjects applied;

  struct Written {
    std::string path;
    uint32_t watch = 0;
    bool attributed = true;
    Text text;  // NULL: it is gone
    std::string resource_version;
  };
  std::vector<Written> written;
  std::vector<Repair> repaired;
  std::optional<Status> status;
  // What the status is made of (indices of the kind's resources), and whether all of it was seen.
  std::vector<uint32_t> relies_on;
  bool seen = true;
  std::chrono::milliseconds look_again{0};
  std::vector<Answer> answers;
};

class Trip : public std::enable_shared_from_this<Trip> {
 public:
  Trip(std::shared_ptr<Workshop> shop, Strand strand, Task task, std::function<void(Report)> done);
  // `done` is called once, on the strand.
  void start();

 private:
  void run();
  Result<std::string> decode() const;
  std::string input(std::string_view desired) const;  // empty: none, a delete

  void next();
  void step_on();

  // --- applying (trip_apply.cpp). Those that answer: true = go on with the next at once.
  enum class Found : uint8_t { same, differs, unseen, ended };
  bool ensure(const Step& step);
  void create(const ObjectName& name, bool looked);
  void ensured(const ObjectName& name);
  bool apply(Step& step);
  bool stamp_it(Step& step);
  Found compare(const Step& step, uint64_t rendered);
  Found compare_unseen(const Step& step, uint64_t rendered);
  Found drifted(const Step& step, const Meta& meta, const json::object& observed);
  bool of_this_history(Cursor made_of) const;
  json::value body_of(const Step& step, uint64_t rendered) const;
  void send_apply(Step& step, uint64_t rendered);
  void applied(Step& step, uint64_t rendered, const cluster::Response& r);
  void note_repair(const Step& step);
  void remember(const ObjectName& name, const kind::Resource& as, bool attributed,
                json::object object);

  // --- looking at an object that no watch shows, or that has changed since it was judged
  // (trip_look.cpp)
  bool look_first(const ObjectName& name, const kind::Resource& as);
  void look_anew(const Step& step, const cluster::Response& refusal);
  void looked(const ObjectName& name, const kind::Resource& as, const cluster::Response& r);
  bool know(const std::string& path, std::optional<Task::Known> now);
  void start_over();

  // --- whose an object is (trip_own.cpp). True: it is not to be touched, and the trip has ended.
  bool foreign(const Step& step, const json::object& object);
  bool not_ours_to_delete(const Removal& removal, const json::object& object, bool attributed);
  Knowledge knowledge() const;
  bool fenced(const ObjectName& name, const Meta& meta);
  void note_unplaced();
  std::string owner_of(const json::object& object) const;
  bool named_like_the_record(const json::object& object) const;
  void park_as_foreign(const ObjectName& name, const std::string& why);

  // --- deleting, and making anew (trip_remove.cpp, trip_replace.cpp)
  bool remove(const Removal& removal);
  void removed(const Removal& removal, const cluster::Response& r);
  void send_delete(const ObjectName& name, const std::string& uid,
                   const std::string& resource_version,
                   std::function<void(const cluster::Response&)> then);
  void replace(const Step& step, uint64_t rendered, std::string why);
  void replace_live(const Step& step, uint64_t rendered, const std::string& why,
                    const cluster::Response& live);
  void delete_for_successor(const Step& step, const Meta& live);
  void make_anew(const ObjectName& name);
  void ask_for_new(const Step& step, uint64_t rendered,
                   std::function<void(const cluster::Response&)> then);

  // --- fields that others have set (trip_take_over.cpp)
  bool may_take_over(const Step& step, const cluster::Response& refusal) const;
  void take_over(const Step& step, uint64_t rendered, const cluster::Response& refusal);
  void hand_over(const Step& step, const std::string& refusal, const cluster::Response& live);
  void handed_over(const cluster::Response& r);

  // The object in an answer; none: the trip has ended, to be made again.
  std::optional<json::object> answered(const cluster::Response& r);
  void request(cluster::Request q, std::function<void(const cluster::Response&)> then);
  void failed(const ObjectName& name, const cluster::Response& r);
  void failed(const ObjectName& name, std::string why, const cluster::Response& r);
  void park(std::string why);
  void park_on(const ObjectName& name, std::string why);
  // The status, when the record itself cannot be applied, or not even read (trip_status.cpp).
  void refuse(std::string why);
  std::optional<Plan> plan_of(std::string_view desired) const;
  void rely_on(const Plan& plan);
  void retry(std::string why, std::chrono::milliseconds after = {});
  void finish(Report::End end);
  void look_again_in(std::chrono::nanoseconds wait);

  size_t watch_of(const kind::Resource& as) const;
  size_t watch_of(const ObjectName& name) const;  // npos: none

  std::shared_ptr<Workshop> shop_;
  Strand strand_;
  Task task_;
  std::function<void(Report)> done_;
  const Claim claim_;

  Plan plan_;
  size_t step_ = 0, removal_ = 0;
  std::vector<std::string> uids_;              // of the steps' objects, for owner references
  std::unordered_set<std::string> looked_at_;  // paths asked for in this trip
  // What is known of the current step's object. An apply goes out of exactly the state that was
  // judged; all empty: it was judged not to be there.
  struct Current {
    std::string uid, resource_version;
    // It was deleted to be made anew; what others set is ours now. Then the same apply goes out
    // once more.
    bool replaced = false, taken_over = false;
    std::string changed_by;  // who has changed what is to be put right; empty: nobody
  };
  Current current_;
  uint32_t start_overs_ = 0;
  std::string desired_;  // the record's message as JSON; empty: it is to be deleted
  Report report_;
};

}  // namespace davit::applier
