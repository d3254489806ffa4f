#include "mutations.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "page_size.hpp"

namespace davit::desired {

namespace {
// After so many attempts that lost against another writer the change is refused.
constexpr int attempts_max = 5;

void refuse(Outcome& outcome, Error error) {
  outcome.type = OutcomeType::refused;
  outcome.error = std::move(error);
}
bool is_refused(const Mutations::Item& item) {
  return item.outcome.error.has_value();
}
// Whether a change of the group is refused. Then all are, and the others name the first.
bool refuse_together(std::vector<Mutations::Item>& items) {
  const auto first = std::find_if(items.begin(), items.end(), is_refused);
  if (first == items.end()) return false;
  const std::string which = "documents[" + std::to_string(first - items.begin()) + "]";
  const Error& why = *first->outcome.error;
  for (auto& item : items) {
    item.outcome.key = item.key;
    if (is_refused(item)) continue;
    refuse(item.outcome, {why.code, which + " is refused: " + why.message, which, why.retry_after});
  }
  return true;
}
void refuse_all(std::vector<Mutations::Item>& items, const Error& error) {
  for (auto& item : items) {
    item.outcome.key = item.key;
    if (!is_refused(item)) refuse(item.outcome, error);
  }
}
}  // namespace

Mutations::Mutations(Host host, storage::Client storage, std::vector<Group> groups, bool dry_run,
                     Outstanding::Ticket ticket, Done done)
    : host_(host),
      storage_(std::move(storage)),
      dry_run_(dry_run),
      ticket_(std::move(ticket)),
      done_(std::move(done)),
      again_(groups.size()) {
  for (auto& g : groups)
    works_.push_back(
        {std::move(g.items), std::move(g.request), g.intent, Step::change, false, {}, {}});
  std::iota(again_.begin(), again_.end(), size_t{0});
}

void Mutations::run(const Host& host, const storage::Client& storage, std::vector<Group> groups,
                    bool dry_run, Outstanding::Ticket ticket, Done done) {
  std::shared_ptr<Mutations> job(
      new Mutations(host, storage, std::move(groups), dry_run, std::move(ticket), std::move(done)));
  host.blocking(storage.instance(), [job] { job->attempt(); });
}

void Mutations::attempt() {
  ++attempts_;
  std::vector<size_t> now;
  now.swap(again_);
  waiting_ = 1;  // counts this call, so that settle() does nothing before all have started
  std::erase_if(now, [this](size_t index) { return !begin(works_[index]); });
  read(now);
  for (size_t index : now) attempt(index);
  settle();
}

// False: all of its changes are refused.
bool Mutations::begin(Work& work) {
  if (refuse_together(work.items)) return false;
  // What was committed is told, even to a caller that has gone.
  if (auto e = given_up(storage_.op(), host_.now()); e && work.step != Step::look_back) {
    refuse_all(work.items, *e);
    return false;
  }
  work.stored.assign(work.items.size(), std::nullopt);
  work.decisions.assign(work.items.size(), {});
  return true;
}

// Reads the records of these works, some at a time, whatever the borders of the groups.
void Mutations::read(const std::vector<size_t>& works) {
  std::vector<Place> places;
  for (size_t index : works) {
    for (size_t n = 0; n < works_[index].items.size(); ++n) places.push_back({&works_[index], n});
  }
  const std::span<const Place> all = places;
  for (size_t first = 0; first < all.size(); first += payloads_per_look_up)
    read(all.subspan(first, std::min(payloads_per_look_up, all.size() - first)));
}

void Mutations::read(std::span<const Place> places) {
  GetRequest request;
  for (const auto& [work, n] : places) request.queries.push_back({work->items[n].key, {}, {}});
  std::map<Key, Record> found;
  auto head = storage_.get(request, [&](const davit_record& r) {
    found.insert_or_assign(from_abi(r.key), from_abi(r));
    return true;
  });
  for (const auto& [work, n] : places) {
    Item& item = work->items[n];
    if (!head.ok()) {
      refuse(item.outcome, head.error());
      continue;
    }
    work->head = head->head;
    item.outcome.incarnation = work->head.incarnation;
    if (const auto at = found.find(item.key); at != found.end()) work->stored[n] = at->second;
    decide(*work, n);
  }
}

void Mutations::attempt(size_t index) {
  Work& work = works_[index];
  if (refuse_together(work.items) || work.step == Step::look_back) return;
  const bool changes = std::any_of(work.decisions.begin(), work.decisions.end(),
                                   [](const Decision& d) { return d.mutation.has_value(); });
  if (changes && !dry_run_ && work.step == Step::change) return commit(index);
  preview_all(work);
  if (refuse_together(work.items) || work.step == Step::change) return;
  refuse_all(work.items, *work.why);
}

void Mutations::decide(Work& work, size_t n) {
  Item& item = work.items[n];
  const auto& stored = work.stored[n];
  item.outcome.key = item.key;
  if (work.step == Step::look_back) {
    item.outcome.type = is_absent(stored) ? OutcomeType::absent : OutcomeType::unchanged;
    item.outcome.version = stored ? stored->version : Version();
    return;
  }
  work.decisions[n] = item.decide(stored);
  if (work.decisions[n].error) return refuse(item.outcome, std::move(*work.decisions[n].error));
  // The store may be restored before the commit, and give the version that was read to another
  // change.
  if (auto& mutation = work.decisions[n].mutation)
    mutation->expect_incarnation = work.head.incarnation;
  check_expected(work, n);
}

// A change whose condition does not hold is refused here, with a word for people. With a request id
// it is committed once all the same: the store compares the condition, too, and it alone knows
// whether it has answered this request before.
void Mutations::check_expected(Work& work, size_t n) {
  Item& item = work.items[n];
  const auto& stored = work.stored[n];
  const bool unchanged = work.decisions[n].type == OutcomeType::unchanged;
  if (item.expect.unchanged_will_do && unchanged) return;
  const auto met = is_met(item.expect, stored, work.head, [this] {
    if (!history_) history_ = storage_.history();
    return *history_;
  });
  if (!met.ok()) return refuse(item.outcome, met.error());
  if (*met) return;
  auto& mutation = work.decisions[n].mutation;
  const bool can_ask = !work.request.id.empty() && !work.asked && !dry_run_ && (stored || mutation);
  if (!can_ask) return refuse_unmet(work, n);
  if (!mutation) mutation = Mutation{*stored, Version()};
  mutation->expect = item.expect.version;
  // 0: the caller does not say in which it has read.
  mutation->expect_incarnation = item.expect.incarnation;
}

void Mutations::refuse_unmet(Work& work, size_t n) {
  Item& item = work.items[n];
  const auto& stored = work.stored[n];
  item.outcome.version = is_absent(stored) ? Version() : stored->version;
  refuse(item.outcome, unmet(item.key, item.expect, stored));
}

// Says what a commit would say, without one.
void Mutations::preview_all(Work& work) {
  for (size_t n = 0; n < work.items.size(); ++n) {
    Outcome& outcome = work.items[n].outcome;
    Decision& decision = work.decisions[n];
    outcome.type = decision.type;
    outcome.version = decision.version;
    outcome.note = std::move(decision.note);
    if (!decision.mutation) continue;
    preview(work, n);
    if (!dry_run_ || is_refused(work.items[n])) continue;
    if (!is_absent(work.stored[n])) outcome.before = std::move(work.stored[n]);
    outcome.after = std::move(decision.mutation->record);
  }
}

// Refuses what the store would refuse. A change before this one may free the name.
void Mutations::preview(Work& work, size_t n) {
  Outcome& outcome = work.items[n].outcome;
  const Record& wanted = work.decisions[n].mutation->record;
  const auto& stored = work.stored[n];
  std::optional<Key> owner;
  if (CommitPreview::claims_name(wanted, stored)) {
    auto head = storage_.get({{wanted.key.kind, wanted.key.region, {}}, wanted.ns, wanted.name},
                             [&](const davit_record& r) {
                               if ((r.flags & DAVIT_RECORD_LIVE) == 0) return true;
                               if (preview_.frees_name_of(from_abi(r.key))) return true;
                               owner = from_abi(r.key);
                               return false;
                             });
    if (!head.ok()) return refuse(outcome, head.error());
  }
  if (auto error = preview_.refusal(wanted, stored, owner)) refuse(outcome, std::move(*error));
}

void Mutations::commit(size_t index) {
  {
    std::lock_guard lock(mutex_);
    ++waiting_;
  }
  const Work& work = works_[index];
  davit::Group group{{}, work.request.id, work.intent};
  for (const Decision& decision : work.decisions) {
    if (!decision.mutation) continue;
    group.mutations.push_back(*decision.mutation);
    group.mutations.back().record.request_id = work.request.shown;
  }
  storage_.commit(group, [self = shared_from_this(), index](const GroupResult& result) {
    self->committed(index, result);
    self->settle();
  });
}

void Mutations::committed(size_t index, const GroupResult& result) {
  Work& work = works_[index];
  if (result.error) return refused_by_store(work, index, *result.error);
  // Which of several changes were committed the first time is not known.
  const bool repeated = !work.request.id.empty() && result.first_version <= work.head.version;
  if (repeated && work.items.size() > 1) {
    work.step = Step::look_back;
    return again(index);
  }
  Version next = result.first_version;
  for (size_t n = 0; n < work.items.size(); ++n) {
    Decision& decision = work.decisions[n];
    Outcome& outcome = work.items[n].outcome;
    outcome.type = decision.type;
    outcome.version = decision.mutation ? next++ : decision.version;
    outcome.incarnation = result.incarnation;
    outcome.note = std::move(decision.note);
  }
}

void Mutations::refused_by_store(Work& work, size_t index, const Error& error) {
  if (error.code == Code::aborted && attempts_ < attempts_max) {
    work.asked = true;
    return again(index);
  }
  if (work.items.size() > 1 &&
      (error.code == Code::already_exists || error.code == Code::invalid_argument)) {
    work.step = Step::blame;
    work.why = error;
    return again(index);
  }
  if (error.code == Code::already_exists)
    return refuse_all(work.items, CommitPreview::name_taken(error.where));
  Error shown = error;
  // The store names the record, which is no field of the document.
  if (shown.where == work.items.front().key.id) shown.where.clear();
  refuse_all(work.items, shown);
}

void Mutations::again(size_t index) {
  std::lock_guard lock(mutex_);
  again_.push_back(index);
}

void Mutations::settle() {
  {
    std::lock_guard lock(mutex_);
    if (--waiting_ > 0) return;
  }
  if (!again_.empty()) {
    host_.blocking(storage_.instance(), [self = shared_from_this()] { self->attempt(); });
    return;
  }
  std::vector<Outcome> outcomes;
  for (auto& work : works_) {
    for (auto& item : work.items) outcomes.push_back(std::move(item.outcome));
  }
  done_(std::move(outcomes));
}

}  // namespace davit::desired
