// An instance of a shared store. Without the setting `fault` it keeps the contract, and the suite
// must pass. Each value breaks one rule, in a way in which backends do that several servers share
// or that are restored while they run. The constructor lists the values.
#include <atomic>
#include <thread>

#include <davit/outstanding.hpp>
#include <davit/storage_election.hpp>
#include <davit/storage_groups.hpp>
#include <davit/storage_intents.hpp>

#include "shared.hpp"

namespace davit::storage_shared {

class StorageShared {
 public:
  using roles = Roles<storage::Role, storage::ElectionRole, storage::IntentsRole>;
  static constexpr uint32_t max_concurrency = 8;
  static storage::Limits limits() { return {}; }

  explicit StorageShared(Host host)
      : path_(Settings(host).string("path")), fault_(Settings(host).string("fault", "")) {
    static const std::set<std::string> known = {
        "",  // no fault
        // The store forgets how its history went.
        "keeps_incarnation_while_up",  // a restore begins none, as after a failover
        "keeps_incarnation_while_closed",
        "draws_the_same",            // two restores of one copy begin the same incarnation
        "ends_at_lost_head",         // the incarnation before is said to end where it was lost
        "ends_at_lost_status_head",  // the same, for statuses
        "any_end",                   // knows the incarnations, and not where they ended
        "any_status_end",
        "takes_trimmed",  // takes a cursor that is older than the chain
        "takes_status_beyond_end",
        "keeps_requests",   // knows requests that were lost
        "expects_numbers",  // compares an expected version, and not where it was read
        // An instance takes its own view for the store's.
        "own_chain",         // has read the chain at its start
        "own_fence",         // commits in the incarnation that it has seen last
        "result_of_oldest",  // says the first incarnation of the chain
        "own_head",          // remembers the head
        "own_versions",      // takes numbers in blocks, as a sequence with a cache does
        "own_requests",      // knows the requests that it was given itself
        "own_hints",         // hints of its own writes
        // Intents and who leads.
        "no_intent_hint",
        "carries_out_twice",   // applies an intent that has an outcome
        "forgets_outcomes",    // commits, and leaves the intent open
        "decides_the_failed",  // a group that fails closes its intent
        "settles_in_vain", "reads_backwards", "two_lead",
        "nobody_follows"};  // when the leader ends
    if (known.count(fault_) == 0) Settings(host).reject("fault", "is not one of the faults");
  }

  Result<> start(const Op&) {
    shared_ = Shared::of(path_, fault_);
    const auto held = shared_->enter();
    shared_->members().push_back(this);
    chain_ = shared_->contents().chain_;
    seen_ = now();
    listener_ = std::thread([this] {
      while (!ended_) {
        (void)shared_->enter();
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    });
    return {};
  }
  Result<> stop(const Op&) {
    ended_ = true;
    listener_.join();
    const auto held = shared_->enter();
    auto& members = shared_->members();
    if (fault_ != "nobody_follows") std::erase(members, this);
    shared_->store().tell(DAVIT_HINT_LEADER);
    return {};
  }

  bool leads() const {
    if (fault_ == "two_lead") return true;
    const auto held = shared_->enter();
    return shared_->members().front() == this;
  }
  Result<> open_intents(const Op&, uint64_t after, uint32_t limit,
                        const storage::VisitIntent& visit) {
    const auto held = shared_->enter();
    std::vector<storage::Intent> page;
    const auto& open = shared_->open_intents();
    for (auto i = open.upper_bound(after); i != open.end() && page.size() < limit; ++i)
      page.push_back({i->first, i->second, "somebody"});
    if (fault_ == "reads_backwards") std::reverse(page.begin(), page.end());
    (void)std::all_of(page.begin(), page.end(), visit);
    return {};
  }
  Result<> settle_intent(const Op&, const storage::IntentOutcome& outcome) {
    const auto held = shared_->enter();
    if (fault_ != "settles_in_vain") shared_->open_intents().erase(outcome.id);
    return {};
  }

  Result<Head> head(const Op& op) {
    return call([&](StorageNaive& s) -> Result<Head> {
      if (fault_ == "own_head") return seen_;
      auto head = s.head(op);
      seen_ = *head;
      return head;
    });
  }
  Result<Page> read(const Op& op, const ReadRequest& q, const storage::VisitRecord& visit) {
    return call([&](StorageNaive& s) { return s.read(op, q, visit); });
  }
  Result<Head> get(const Op& op, const GetRequest& q, const storage::VisitRecord& visit) {
    return call([&](StorageNaive& s) { return s.get(op, q, visit); });
  }
  Result<StatusPage> statuses(const Op& op, const StatusRead& q,
                              const storage::VisitStatus& visit) {
    return call([&](StorageNaive& s) { return s.statuses(op, q, visit); });
  }
  Result<bool> agents(const Op& op, const AgentRead& q, const storage::VisitProgress& visit) {
    return call([&](StorageNaive& s) { return s.agents(op, q, visit); });
  }
  Result<> history(const Op& op, const storage::VisitCursor& visit) {
    return call([&](StorageNaive& s) { return s.history(op, visit); });
  }
  Result<> maintain(const Op& op, const storage::Maintain& m) {
    return writing(0, [&](StorageNaive& s) { return s.maintain(op, m); });
  }
  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    return writing(DAVIT_HINT_STATUSES, [&](StorageNaive& s) { return s.report(op, statuses); });
  }
  Result<> progress(const Op& op, const Progress& p) {
    return writing(DAVIT_HINT_AGENTS, [&](StorageNaive& s) { return s.progress(op, p); });
  }
  Result<std::vector<GroupResult>> commit(const Op& op, std::vector<Group> groups) {
    if (fault_ == "own_requests") {
      for (Group& group : groups) sign(group);
    }
    return writing(DAVIT_HINT_RECORDS, [&](StorageNaive& s) -> Result<std::vector<GroupResult>> {
      auto results = own_numbers([&] { return commit_with_intents(s, op, groups); });
      if (!results.ok()) return results;
      for (GroupResult& r : *results) {
        if (fault_ == "own_fence") r.incarnation = seen_.head.incarnation;
        if (fault_ == "result_of_oldest") r.incarnation = shared_->contents().chain_[0].incarnation;
      }
      return results;
    });
  }

  davit_storage_watch* watch(storage::Hint hint) {
    return fault_ == "own_hints" ? hints_.watch(std::move(hint))
                                 : shared_->store().watch(std::move(hint));
  }
  void unwatch(davit_storage_watch* watch) {
    fault_ == "own_hints" ? hints_.unwatch(watch) : shared_->store().unwatch(watch);
  }

 private:
  Result<std::vector<GroupResult>> commit_with_intents(StorageNaive& s, const Op& op,
                                                       const std::vector<Group>& groups) {
    auto& open = shared_->open_intents();
    std::vector<GroupResult> out;
    for (const Group& group : groups) {
      const bool known = s.knows_request(group.request_id);
      if (group.intent != 0 && !open.contains(group.intent) && !known &&
          fault_ != "carries_out_twice") {
        out.push_back({now().head.incarnation, 0, 0, storage::not_open(group.intent)});
        continue;
      }
      auto one = s.commit(op, {group});
      if (!one.ok()) return one;
      out.push_back(one->front());
      const bool decides = !out.back().error || fault_ == "decides_the_failed";
      if (decides && fault_ != "forgets_outcomes") open.erase(group.intent);
    }
    return out;
  }
  Head now() {
    const Contents& c = shared_->contents();
    return {{c.incarnation(), c.head_}, c.status_head_, c.purged_};
  }
  template <class Work>
  auto call(Work work) -> decltype(work(std::declval<StorageNaive&>())) {
    const auto held = shared_->enter();
    const bool own = fault_ == "own_chain";
    if (own) std::swap(shared_->contents().chain_, chain_);
    auto result = work(shared_->store());
    if (own) std::swap(shared_->contents().chain_, chain_);
    return result;
  }
  template <class Work>
  auto writing(uint32_t hint, Work work) -> decltype(work(std::declval<StorageNaive&>())) {
    auto result = call([&](StorageNaive& s) {
      auto r = work(s);
      if (fault_ == "own_head") seen_ = now();
      return r;
    });
    if (fault_ == "own_hints" && hint != 0) hints_.tell(hint);
    return result;
  }
  // The store gives the versions that follow its head.
  template <class Work>
  auto own_numbers(Work work) -> decltype(work()) {
    if (fault_ != "own_versions") return work();
    constexpr uint64_t block = 1'000;
    Version& head = shared_->contents().head_;
    const Version before = head;
    if (!given_ || given_->value() % block > block / 2)
      given_ = Version((before.value() + block - 1) / block * block);
    const Version last = head = *given_;
    auto result = work();
    given_ = head;
    head = head == last ? before : std::max(head, before);
    return result;
  }
  void sign(Group& group) const {
    if (group.request_id.empty()) return;
    for (Mutation& m : group.mutations) {
      if (m.record.request_id.empty()) m.record.request_id = group.request_id;
    }
    group.request_id += "@" + std::to_string(reinterpret_cast<uintptr_t>(this));
  }

  const std::string path_, fault_;
  std::shared_ptr<Shared> shared_;
  std::vector<Contents::Link> chain_;  // as it was at the start
  Head seen_;                          // the head that this instance has told last
  std::optional<Version> given_;       // the newest version of this instance's block
  storage::Hints hints_;
  std::thread listener_;  // from start to stop: obeys, and thereby hints
  std::atomic<bool> ended_{false};
};

}  // namespace davit::storage_shared

DAVIT_PLUGIN(davit::storage_shared::StorageShared, "storage_shared", DAVIT_PLUGIN_VERSION,
             "a store that several instances share, rightly or wrongly")
