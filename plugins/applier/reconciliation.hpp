// Reconciliation: makes the cluster's objects of one record equal to what is wanted, once. It
// decodes and validates the message, calls the kind's reconcile, compares the plan with the
// cluster (drift.hpp), and sends one request after another in the kind's order. It runs on the pool
// of the kind's instance, because a kind may block: one step after the other, so it needs no
// strand. It touches no table: it gets copies (Task) and returns what it found (Report).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>

#include <boost/json/value.hpp>

#include "answer.hpp"
#include "drift.hpp"
#include "event.hpp"
#include "meaning.hpp"
#include "observed.hpp"
#include "plan.hpp"
#include "reconcile_context.hpp"
#include "views.hpp"

namespace davit::applier {

// The input of one reconciliation: copies of all that it needs of the hub's tables.
struct Task {
  struct Known {
    Text text;
    std::string resource_version;
    bool ours = false;  // attributed to this record
    // A change of this object may end the record's park.
    bool grounds = false;
  };
  const kind::Client* kind = nullptr;
  Schema schema;
  std::vector<Coverage> coverage;  // by index of the kind's resources

  uint64_t entry = 0;
  Version version{};
  Intent intent = Intent::unknown;
  Incarnation incarnation{};  // of the store in which the version was read; 0: the peer tells none
  Incarnation stream{};       // the incarnation of the present stream
  Version fence{};            // objects of a later version are left alone
  std::shared_ptr<const History> history;
  std::shared_ptr<const Incarnations> foreign_incarnations;
  Key key;
  std::string ns, name;
  std::string state;  // the record's state word
  Pairs annotations;
  Buffer payload;
  Buffer runs;                                   // the message that was applied last; may be empty
  bool look_only = false;                        // parked: only report what is there
  bool pruned = false;                           // to be deleted, because no snapshot names it
  std::unordered_map<std::string, Known> known;  // by path
  AppliedObjects applied;
  Repairs repairs;
};

// The result of one reconciliation.
struct Report {
  static constexpr size_t npos = SIZE_MAX;
  enum class End : uint8_t { done, held, looked, parked, retry };
  uint64_t entry = 0;
  Version version{};
  Incarnation incarnation{};
  Intent intent = Intent::unknown;
  End end = End::done;
  std::string why;  // parked and retry: the reason
  std::chrono::milliseconds retry_after{0};
  bool delayed = false;    // retry: the kind cannot answer now, or lacks what it needs
  Incarnation unplaced{};  // an object names this unknown incarnation; 0: none does
  // Retry: a right is refused. An API server that has just started may refuse any right.
  bool right_refused = false;
  // Parked: the watch of the object that it is parked for, npos if none; and the fingerprint of the
  // record's objects as the reconciliation saw them.
  size_t parked_on = npos;
  uint64_t grounds = 0;
  AppliedObjects applied;

  struct Written {
    std::string path;
    uint32_t watch = 0;
    bool attributed = true;
    Text text;  // NULL: the object is gone
    std::string resource_version;
  };
  std::vector<Written> written;
  std::vector<Repair> repaired;
  std::vector<std::string> shares;  // paths of shared objects that are as this record wants them
  std::vector<Event> events;
  EventTarget subject;  // parked, or a right is refused: the object to tell people at
  std::optional<Status> status;
  // The watches that the status depends on (indices of the kind's resources), and whether all of
  // them were complete.
  std::vector<uint32_t> relies_on;
  bool seen = true;
  std::chrono::milliseconds look_again{0};
  std::vector<Answer> answers;
};

class Reconciliation : public std::enable_shared_from_this<Reconciliation> {
 public:
  Reconciliation(std::shared_ptr<ReconcileContext> context, Task task,
                 std::function<void(Report)> done);
  // `done` is called once, on any thread.
  void start();

 private:
  void run();
  void consult();
  Result<std::string> decode() const;
  std::string input(std::string_view desired) const;  // `desired` empty: a delete

  void next();
  void step_on();

  // --- what the kind needs to know before it can answer (reconciliation_needs.cpp)
  void meet(std::vector<Need> needs);
  void meet_next();
  void met(const cluster::Response& r);

  // --- applying (reconciliation_apply.cpp). bool results: true = go on with the next step at once.
  bool ensure(const Step& step);
  void create(const ObjectName& name, bool looked);
  void ensured(const ObjectName& name);
  bool apply(Step& step);
  bool stamp_it(Step& step);
  ObjectState state_of(const Step& step) const;
  // Reads what the step's object says. nullopt: the kind cannot tell now whose it is, and the
  // reconciliation has ended with a retry.
  std::optional<ObjectContent> examine(const Step& step);
  bool act(Step& step, Drift found, const WantedObject& wanted, const ObjectState& state,
           const LastApply& last);
  void found_as_wanted(const Step& step, const WantedObject& wanted, const ObjectState& state,
                       const LastApply& last);
  std::string who_changed(const Step& step) const;
  json::value body_of(const Step& step, uint64_t rendered) const;
  void send_apply(const Step& step, uint64_t rendered);
  std::string apply_body(const Step& step, uint64_t rendered) const;
  void request_apply(const Step& step, uint64_t rendered, std::string_view body);
  void applied(Step& step, uint64_t rendered, const cluster::Response& r);
  void note_repair(const Step& step);
  void remember(const ObjectName& name, const kind::Resource& as, bool attributed,
                json::object object);

  // --- resolving what a Secret is to contain (reconciliation_secrets.cpp)
  void resolve(const Step& step, uint64_t rendered);
  void resolved(const Step& step, uint64_t rendered, const secrets::Results& results);
  void note_validity(int64_t until_unix_ms);
  void unresolved(const Step& step, size_t index, const Error& why);

  // --- reading an object that no watch shows, or that has changed since it was judged
  // (reconciliation_look.cpp)
  bool look_first(const ObjectName& name, const kind::Resource& as);
  void look_anew(const Step& step, const cluster::Response& refusal);
  void looked(const ObjectName& name, const kind::Resource& as, const cluster::Response& r);
  bool know(const std::string& path, std::optional<Task::Known> now);
  void start_over();

  // --- whose an object is (reconciliation_own.cpp). bool results of foreign, not_ours_to_delete
  // and fenced: true = the object is left alone, and the reconciliation has ended.
  bool foreign(const Step& step, const json::object& object);
  bool not_ours_to_delete(const Removal& removal, const json::object& object, bool attributed);
  Knowledge knowledge() const;
  bool fenced(const ObjectName& name, Cursor made_of);
  void leave_alone(const ObjectName& name, Drift why, const std::string& owner, Cursor made_of);
  void note_unplaced();
  // nullopt: the kind cannot tell now, and the reconciliation has ended with a retry.
  std::optional<std::vector<Named>> records_of(const json::object& object);
  std::optional<bool> named_like_the_record(const json::object& object);
  std::optional<std::string> owner_of(const json::object& object);
  bool is_this_record(const Named& named) const {
    return named.ns == task_.ns && named.name == task_.name;
  }
  void park_as_foreign(const ObjectName& name, const std::string& why);

  // --- deleting, and replacing (reconciliation_remove.cpp, reconciliation_replace.cpp)
  bool remove(const Removal& removal);
  void removed(const Removal& removal, const cluster::Response& r);
  void send_delete(const ObjectName& name, const std::string& uid,
                   const std::string& resource_version, const char* propagation,
                   std::function<void(const cluster::Response&)> then);
  void replace(const Step& step, uint64_t rendered, std::string why);
  void replace_live(const Step& step, uint64_t rendered, const std::string& why,
                    const cluster::Response& live);
  void delete_for_successor(const Step& step, const Meta& live, bool leave_pods);
  void make_anew(const ObjectName& name);
  void ask_for_new(const Step& step, uint64_t rendered,
                   std::function<void(const cluster::Response&)> then);

  // --- taking over fields that others have set (reconciliation_take_over.cpp)
  bool may_take_over(const Step& step, const cluster::Response& refusal) const;
  void take_over(const Step& step, uint64_t rendered, const cluster::Response& refusal);
  void hand_over(const Step& step, const std::string& refusal, const cluster::Response& live);
  void handed_over(const cluster::Response& r);

  // --- what people are told at the objects (reconciliation_events.cpp)
  EventTarget target(const ObjectName& name) const;
  EventTarget first_of_ours() const;
  std::string record_text() const;
  void tell(const ObjectName& name, const std::string& uid, std::string reason,
            std::string message);
  void tell_pruned(const Removal& removal);

  // The object in an answer. nullopt: the answer has none, and the reconciliation has ended with a
  // retry.
  std::optional<json::object> answered(const cluster::Response& r);
  void request(cluster::Request q, std::function<void(const cluster::Response&)> then);
  // With a body that is borrowed for the call.
  void request(cluster::Request q, std::string_view body,
               std::function<void(const cluster::Response&)> then);
  void failed(const ObjectName& name, const cluster::Response& r);
  void failed(const ObjectName& name, std::string why, const cluster::Response& r);
  void park(std::string why);
  void park_on(const ObjectName& name, std::string why);
  // Parks the record, which cannot be applied or not even read, with a status of what runs
  // (reconciliation_status.cpp).
  void refuse(std::string why);
  std::optional<Plan> plan_of(std::string_view desired) const;
  void rely_on(const Plan& plan);
  void retry(std::string why, std::chrono::milliseconds after = {});
  void delay(std::string why, std::chrono::milliseconds after);
  void finish(Report::End end);
  void look_again_in(std::chrono::nanoseconds wait);

  size_t watch_of(const kind::Resource& as) const;
  size_t watch_of(const ObjectName& name) const;  // npos: no watch

  std::shared_ptr<ReconcileContext> context_;
  Task task_;
  std::function<void(Report)> done_;
  const Claim claim_;

  Plan plan_;
  size_t step_ = 0, removal_ = 0;
  std::vector<std::string> uids_;              // of the steps' objects, for owner references
  std::unordered_set<std::string> looked_at_;  // paths read in this reconciliation
  // The known state of the current step's object. An apply names exactly the state that was judged.
  // Both texts empty: the object was judged to be absent.
  struct Current {
    std::string uid, resource_version;
    // `replaced`: the object was deleted to be made anew. `taken_over`: the fields of others are
    // ours now. In both cases the same apply is sent once more.
    bool replaced = false, taken_over = false;
    std::string changed_by;     // who has made the change that is to be repaired; empty: nobody
    std::string cannot_change;  // why the object was replaced
    int64_t valid_until_unix_ms = 0;  // of what was resolved for the apply; 0: not stated
  };
  Current current_;
  uint32_t start_overs_ = 0;
  std::string desired_;  // the record's message as JSON; empty: the record is to be deleted
  std::map<std::string, std::string> given_;  // answers to the kind's needs: JSON, by their ids
  size_t given_bytes_ = 0;
  std::vector<Need> needs_;  // of the present round
  size_t need_ = 0;          // the one that is being met
  uint32_t rounds_ = 0;
  Report report_;
};

}  // namespace davit::applier
