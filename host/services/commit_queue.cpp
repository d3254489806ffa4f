#include "commit_queue.hpp"

#include <thread>

#include "joint_operation.hpp"
#include "log.hpp"
#include "metrics.hpp"

namespace davit::host {
namespace {

// Why the caller no longer wants its request, `after` from now; nothing: it does.
std::optional<Error> unwanted(const Op& op, std::chrono::milliseconds after = {}) {
  return given_up(op, std::chrono::steady_clock::now().time_since_epoch() + after);
}

void answer_now(const CommitQueue::Commit& request, const Error& error);
void answer_now(const CommitQueue::Report& request, const Error& error);

// Answers those whose callers have given up, and returns the others.
template <class Request>
std::vector<Request> wanted_of(std::vector<Request> batch) {
  std::vector<Request> out;
  for (Request& request : batch) {
    if (auto why = unwanted(request.op)) {
      answer_now(request, *why);
    } else {
      out.push_back(std::move(request));
    }
  }
  return out;
}

// Joins texts so that the result is unambiguous whatever they contain.
std::string joined(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (std::string_view part : parts) {
    out += std::to_string(part.size());
    out += ':';
    out += part;
  }
  return out;
}

Footprint footprint(const Group& group) {
  constexpr size_t record_overhead = 240;  // numbers, and what a database adds to a row
  Footprint out;
  if (!group.request_id.empty()) out.keys.push_back(joined({"request", group.request_id}));
  if (group.intent != 0) out.keys.push_back(joined({"intent", std::to_string(group.intent)}));
  out.records = group.mutations.size();
  for (const Mutation& m : group.mutations) {
    const Record& r = m.record;
    out.keys.push_back(joined({"id", r.key.kind, r.key.region, r.key.id}));
    if (!r.name.empty())
      out.keys.push_back(joined({"name", r.key.kind, r.key.region, r.ns, r.name}));
    out.bytes += record_overhead + storage::stored_bytes(r);
  }
  return out;
}

Footprint footprint(const std::vector<Status>& statuses) {
  constexpr size_t status_overhead = 256, child_overhead = 64;
  Footprint out;
  for (const Status& s : statuses) {
    out.keys.push_back(joined({s.key.kind, s.key.region, s.key.id}));
    out.bytes += status_overhead + storage::stored_bytes(s) + s.children.size() * child_overhead;
  }
  return out;
}

davit_group_result failed(const Error& error) {
  davit_group_result result{sizeof(davit_group_result), 0, 0, 0, 0, {}};
  fill(&result.error, error);
  return result;
}

void answer_now(const CommitQueue::Commit& request, const Error& error) {
  const davit_group_result result = failed(error);
  request.done(request.ctx, &result);
}

void answer_now(const CommitQueue::Report& request, const Error& error) {
  davit_error e{};
  request.done(request.ctx, fill(&e, error), &e);
}

template <class F>
void post(Pool& pool, F f) {
  pool.post(
      [](void* arg) {
        std::unique_ptr<F> held(static_cast<F*>(arg));
        (*held)();
      },
      new F(std::move(f)));
}

bool is_passing(Code code) {
  return code == Code::unavailable || code == Code::aborted;
}

// True if a report alone would fail in the same way, because the storage is away.
bool is_about_the_storage(Code code) {
  return is_passing(code) || code == Code::deadline_exceeded || code == Code::resource_exhausted ||
         code == Code::cancelled;
}

// What somebody has to look into: neither the caller's input nor the state of the database.
bool is_a_fault(Code code) {
  return code == Code::internal || code == Code::unknown || code == Code::unimplemented ||
         code == Code::data_loss;
}

}  // namespace

void answer(Pool& pool, CommitQueue::Commit request, Error error) {
  post(pool,
       [request = std::move(request), error = std::move(error)] { answer_now(request, error); });
}

void answer(Pool& pool, CommitQueue::Report request, Error error) {
  post(pool,
       [request = std::move(request), error = std::move(error)] { answer_now(request, error); });
}

CommitQueue::CommitQueue(davit_ref storage, Pool& pool, LaneLimits limits, davit_metric* duration,
                         ReportRetry retry, Log* log, std::chrono::nanoseconds call_longest)
    : storage_(storage),
      pool_(pool),
      duration_(duration),
      log_(log),
      versions_(storage.instance),
      retry_(retry),
      call_longest_(call_longest),
      commits_(
          "commit queue", pool, [this](std::vector<Commit> c) { call_commit(std::move(c)); },
          limits),
      reports_(
          "report queue", pool, [this](std::vector<Report> r) { call_report(std::move(r)); },
          limits) {}

Result<storage::Limits> CommitQueue::limits() {
  {
    const std::lock_guard lock(limits_mutex_);
    if (limits_) return *limits_;
  }
  const auto& storage = *static_cast<const davit_storage*>(storage_.vtable);
  davit_storage_limits out{};
  out.struct_size = sizeof out;
  auto r = checked([&](davit_error* e) { return storage.limits(storage_.self, &out, e); });
  if (!r.ok()) return r.error();
  const storage::Limits told = from_abi(out);
  if (auto wrong = fault_in(told)) return *wrong;
  const std::lock_guard lock(limits_mutex_);
  if (limits_) return *limits_;  // another thread has asked meanwhile
  limits_ = told;
  commits_.restrict_to({SIZE_MAX, limits_->group_bytes, limits_->group_records});
  return *limits_;
}

Error CommitQueue::in_storage(const Error& error) const {
  return error.in("storage \"" + text(storage_.instance) + "\"");
}

void CommitQueue::commit(Commit request) {
  const auto limits = this->limits();
  if (!limits.ok()) return answer(pool_, std::move(request), in_storage(limits.error()));
  if (auto error = refuse(request.group, *limits))
    return answer(pool_, std::move(request), in_storage(*error));
  if (request.group.intent != 0 && !takes_intents_)
    return answer(pool_, std::move(request),
                  in_storage({Code::failed_precondition, "keeps no intents", "intent"}));
  request.since = std::chrono::steady_clock::now();
  if (!commits_.offer(request, footprint(request.group))) {
    answer(pool_, std::move(request),
           {Code::resource_exhausted,
            "storage \"" + text(storage_.instance) + "\": too many commits wait",
            {},
            std::chrono::seconds(1)});
  }
}

void CommitQueue::report(Report request) {
  const auto limits = this->limits();
  if (!limits.ok()) return answer(pool_, std::move(request), in_storage(limits.error()));
  for (const Status& s : request.statuses) {
    if (auto error = refuse(s, *limits))
      return answer(pool_, std::move(request), in_storage(*error));
  }
  if (!reports_.offer(request, footprint(request.statuses))) {
    answer(pool_, std::move(request),
           {Code::resource_exhausted,
            "storage \"" + text(storage_.instance) + "\": too many reports wait",
            {},
            std::chrono::seconds(1)});
  }
}

// Logs that calls fail by a fault of the plugin, once when it begins and once when it ends.
void CommitQueue::tell(const char* call, uint64_t& failures, const Error* error) {
  if (log_ == nullptr) return;
  if (error == nullptr) {
    if (failures > 0)
      log_->info(view(storage_.instance), "calls succeed again",
                 {{"call", call}, {"failed", std::to_string(failures)}});
    failures = 0;
    return;
  }
  if (is_a_fault(error->code) && ++failures == 1)
    log_->error(view(storage_.instance), "a call of the storage fails",
                {{"call", call}, {"error", error->message}});
}

// The head of the store; nothing: it cannot be read now.
std::optional<Cursor> CommitQueue::head(const Op& op) const {
  const auto& storage = *static_cast<const davit_storage*>(storage_.vtable);
  davit_head out{};
  out.struct_size = sizeof out;
  const auto read =
      checked([&](davit_error* e) { return storage.head(storage_.self, op.abi(), &out, e); });
  if (!read.ok()) return std::nullopt;
  return from_abi(out.head);
}

Result<> CommitQueue::call_commit(const std::vector<Commit>& batch,
                                  std::vector<davit_group_result>& results) {
  const auto& storage = *static_cast<const davit_storage*>(storage_.vtable);
  std::deque<GroupView> views;
  std::vector<const davit_group*> groups;
  std::vector<Op> callers;
  for (const Commit& c : batch) {
    groups.push_back(&views.emplace_back(c.group).abi);
    callers.push_back(c.op);
    // A group that the backend forgets was not committed.
    results.push_back(failed({Code::internal, "the storage gave no result"}));
  }
  std::vector<davit_group_result*> out;
  for (auto& r : results) out.push_back(&r);
  const JointOperation joint(callers, call_longest_);
  const Op op = joint.op();
  Result<> all = checked([&](davit_error* e) {
    return storage.commit(storage_.self, op.abi(), groups.data(), groups.size(), out.data(), e);
  });
  if (all.ok()) versions_.called(head(op));
  return all;
}

void CommitQueue::call_commit(std::vector<Commit> waiting) {
  const std::vector<Commit> batch = wanted_of(std::move(waiting));
  if (batch.empty()) return;
  std::vector<davit_group_result> results;
  const Result<> all = call_commit(batch, results);
  std::optional<Error> fault;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (!all.ok()) {
      results[i] = failed(all.error());
    } else if (results[i].error.code == DAVIT_OK) {
      if (auto wrong = versions_.judge(
              {Incarnation(results[i].incarnation), Version(results[i].first_version)},
              batch[i].group))
        results[i] = failed(*wrong);
    }
    if (!fault && is_a_fault(static_cast<Code>(results[i].error.code)))
      fault = take(results[i].error, results[i].error.code);
    if (duration_ != nullptr) {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - batch[i].since;
      Metrics::observe(duration_, took.count());
    }
    batch[i].done(batch[i].ctx, &results[i]);
  }
  tell("commit", failed_commits_, fault ? &*fault : nullptr);
}

Result<> CommitQueue::call_report(const Report* const* reports, size_t count) {
  const auto limits = this->limits();
  if (!limits.ok()) return limits.error();
  std::vector<const Status*> statuses;
  std::vector<Op> callers;
  for (size_t i = 0; i < count; ++i) {
    for (const Status& s : reports[i]->statuses) statuses.push_back(&s);
    callers.push_back(reports[i]->op);
  }
  const JointOperation joint(callers, call_longest_);  // for all calls and attempts together
  for (size_t first = 0; first < statuses.size();) {
    const size_t end = end_of_report(statuses, first, *limits);
    if (auto r = call_report(joint.op(), &statuses[first], end - first); !r.ok()) return r;
    first = end;
  }
  return {};
}

Result<> CommitQueue::call_report(const Op& op, const Status* const* statuses, size_t count) {
  const auto& storage = *static_cast<const davit_storage*>(storage_.vtable);
  std::deque<StatusView> views;
  std::vector<const davit_status*> pointers;
  for (size_t i = 0; i < count; ++i) pointers.push_back(&views.emplace_back(*statuses[i]).abi);
  Backoff backoff(retry_.pause);
  while (true) {
    Result<> stored = checked([&](davit_error* e) {
      return storage.report(storage_.self, op.abi(), pointers.data(), pointers.size(), e);
    });
    if (stored.ok() || !is_passing(stored.error().code)) return stored;
    const auto pause = backoff.next(random_());
    if (backoff.failures() == retry_.attempts || unwanted(op, pause)) return stored;
    std::this_thread::sleep_for(pause);
  }
}

void CommitQueue::call_report(std::vector<Report> waiting) {
  const std::vector<Report> batch = wanted_of(std::move(waiting));
  if (batch.empty()) return;
  std::vector<const Report*> pointers;
  for (const Report& r : batch) pointers.push_back(&r);
  // A report that can never succeed must not fail the others. Storing a status again is harmless.
  Result<> own = call_report(pointers.data(), pointers.size());
  bool alone = !own.ok() && batch.size() > 1 && !is_about_the_storage(own.error().code);
  for (size_t i = 0; i < batch.size(); ++i) {
    if (alone) {
      const auto why = unwanted(batch[i].op);
      if (why) {
        answer_now(batch[i], *why);
        continue;
      }
      own = call_report(&pointers[i], 1);
    }
    // The storage has gone away meanwhile. Its error is the answer to the rest.
    if (!own.ok() && is_about_the_storage(own.error().code)) alone = false;
    tell("report", failed_reports_, own.ok() ? nullptr : &own.error());
    davit_error e{};
    const int32_t code = own.ok() ? DAVIT_OK : fill(&e, own.error());
    batch[i].done(batch[i].ctx, code, &e);
  }
}

}  // namespace davit::host
