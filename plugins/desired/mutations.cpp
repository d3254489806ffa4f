#include "mutations.hpp"

#include <numeric>

namespace davit::desired {

namespace {
// After so many attempts that lost against another writer the change is refused.
constexpr int attempts_max = 5;

void refuse(Outcome& outcome, Error error) {
  outcome.word = "refused";
  outcome.error = std::move(error);
}
}  // namespace

Mutations::Mutations(Host host, storage::Client storage, std::vector<Item> items, bool dry_run,
                     Outstanding::Ticket ticket, Done done)
    : host_(host),
      storage_(std::move(storage)),
      items_(std::move(items)),
      dry_run_(dry_run),
      ticket_(std::move(ticket)),
      done_(std::move(done)),
      again_(items_.size()) {
  std::iota(again_.begin(), again_.end(), size_t{0});
}

void Mutations::run(const Host& host, const storage::Client& storage, std::vector<Item> items,
                    bool dry_run, Outstanding::Ticket ticket, Done done) {
  std::shared_ptr<Mutations> job(
      new Mutations(host, storage, std::move(items), dry_run, std::move(ticket), std::move(done)));
  host.blocking(storage.instance(), [job] { job->attempt(); });
}

void Mutations::attempt() {
  ++attempts_;
  std::vector<size_t> now;
  now.swap(again_);
  waiting_ = 1;  // counts this call, so that settle() does nothing before all have started
  for (size_t index : now) read_and_decide(index);
  settle();
}

void Mutations::read_and_decide(size_t index) {
  Item& item = items_[index];
  if (!item.outcome.word.empty()) return;
  item.outcome.key = item.key;
  std::optional<Record> stored;
  auto head = storage_.get({item.key, {}, {}}, [&](const davit_record& r) {
    stored = from_abi(r);
    return false;
  });
  if (!head.ok()) return refuse(item.outcome, head.error());
  Decision decision = item.decide(stored);
  if (decision.error) return refuse(item.outcome, std::move(*decision.error));
  if (!decision.mutation || dry_run_) {
    item.outcome.word = decision.word;
    item.outcome.version = decision.version;
    item.outcome.incarnation = head->head.incarnation;
    item.outcome.note = std::move(decision.note);
    if (decision.mutation) foresee(item.outcome, decision.mutation->record, stored);
    return;
  }
  item.outcome.note = std::move(decision.note);
  commit(index, std::move(*decision.mutation), std::move(decision.word));
}

// For a dry run: refuses what the store would refuse.
void Mutations::foresee(Outcome& outcome, const Record& wanted,
                        const std::optional<Record>& stored) {
  std::optional<Key> owner;
  if (Foresight::claims_name(wanted, stored)) {
    auto head = storage_.get({{wanted.key.kind, wanted.key.region, {}}, wanted.ns, wanted.name},
                             [&owner](const davit_record& r) {
                               if ((r.flags & DAVIT_RECORD_LIVE) == 0) return true;
                               owner = from_abi(r.key);
                               return false;
                             });
    if (!head.ok()) return refuse(outcome, head.error());
  }
  if (auto error = foresight_.refusal(wanted, stored, owner)) refuse(outcome, std::move(*error));
}

void Mutations::commit(size_t index, Mutation mutation, std::string word) {
  {
    std::lock_guard lock(mutex_);
    ++waiting_;
  }
  const Request& request = items_[index].request;
  mutation.record.request_id = request.shown;
  storage_.commit(
      {{std::move(mutation)}, request.id},
      [self = shared_from_this(), index, word = std::move(word)](const GroupResult& result) {
        self->committed(index, word, result);
        self->settle();
      });
}

void Mutations::committed(size_t index, const std::string& word, const GroupResult& result) {
  Outcome& outcome = items_[index].outcome;
  if (!result.error) {
    outcome.word = word;
    outcome.version = result.first_version;
    outcome.incarnation = result.incarnation;
  } else if (result.error->code == Code::aborted && attempts_ < attempts_max) {
    std::lock_guard lock(mutex_);
    again_.push_back(index);
  } else if (result.error->code == Code::already_exists) {
    refuse(outcome, Foresight::name_taken(result.error->where));
  } else {
    refuse(outcome, *result.error);
  }
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
  for (auto& item : items_) outcomes.push_back(std::move(item.outcome));
  done_(std::move(outcomes));
}

}  // namespace davit::desired
