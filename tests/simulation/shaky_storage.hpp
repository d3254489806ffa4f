// A storage in trouble: the real one behind it, and errors before it was asked, in the middle of a
// page, or after it has committed. Its hints get lost, and come for nothing; its pages are short,
// so that what is read takes several of them; a report comes a second time when newer ones are in.
#pragma once

#include <davit/storage.hpp>

#include "fate.hpp"
#include "history.hpp"

namespace davit::simulation {

class ShakyStorage {
 public:
  static constexpr uint32_t page_records_max = 3;

  struct Witness {
    virtual ~Witness() = default;
    virtual void heard(const Progress& p) = 0;  // what an agent says of itself
    // Once for each instance of the store that has it. `now`: it was reported to this one.
    virtual void stored(const Status& s, bool now) = 0;
    virtual void purged() = 0;
  };

  ShakyStorage(Fate& fate, History& history, Witness& witness)
      : fate_(fate), history_(history), witness_(witness) {}
  void stand_before(storage::Client inner) {
    inner_ = std::move(inner);
    closed_ = false;
  }
  // From now on it is away, until it stands before another instance.
  void close() { closed_ = true; }
  // Another store's file: what was seen of the one before does not count.
  void begin_anew() {
    witnessed_ = {};
    straggler_.clear();
  }
  // As the judge asks: nothing goes wrong.
  storage::Client& inner() { return inner_; }

  Result<storage::Limits> limits() { return inner_.limits(); }
  Result<Head> head(const Op& op) { return away() ? trouble() : inner_.under(op).head(); }
  Result<> history(const Op& op, const storage::VisitCursor& visit) {
    if (away()) return trouble();
    auto r = inner_.under(op).history();
    if (!r.ok()) return r.error();
    for (const Cursor& link : *r) visit(link);
    return {};
  }
  Result<Page> read(const Op& op, ReadRequest q, const storage::VisitRecord& visit) {
    if (away()) return trouble();
    q.limit = std::min(q.limit, page_records_max);
    const bool breaks = fate_.strikes(0.05);
    auto page = inner_.under(op).read(q, [&](const davit_record& r) { return visit(from_abi(r)); });
    if (breaks) return trouble();
    return page;
  }
  Result<Head> get(const Op& op, const GetRequest& q, const storage::VisitRecord& visit) {
    if (away()) return trouble();
    return inner_.under(op).get(q, [&](const davit_record& r) { return visit(from_abi(r)); });
  }
  Result<std::vector<GroupResult>> commit(const Op& op, const std::vector<Group>& groups) {
    if (away()) return trouble();
    auto results = inner_.under(op).commit_now(groups);
    if (!results.ok()) return results;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (!(*results)[i].error) history_.committed(groups[i], (*results)[i].first_version);
    }
    hint(DAVIT_HINT_RECORDS);
    if (away()) return trouble();
    return results;
  }
  Result<> report(const Op& op, const std::vector<Status>& statuses) {
    if (away()) return trouble();
    auto r = inner_.under(op).report_now(statuses);
    const auto late = std::exchange(straggler_, {});
    if (!late.empty()) (void)inner_.under(op).report_now(late);
    if (fate_.strikes(0.05)) straggler_ = statuses;
    auto page = inner_.under(op).statuses({{}, witnessed_, 1000}, [&](const davit_status& stored) {
      Status s = from_abi(stored);
      bool now = false;
      for (const auto* said : {&late, &statuses}) {
        for (const Status& one : *said) {
          if (one.key != s.key || one.epoch != s.epoch || one.sequence != s.sequence) continue;
          s.observed_incarnation = one.observed_incarnation;
          now = true;
        }
      }
      witness_.stored(s, now);
      return true;
    });
    if (page.ok()) witnessed_ = page->next;
    hint(DAVIT_HINT_RECORDS | DAVIT_HINT_STATUSES);
    return away() ? Result<>(trouble()) : r;
  }
  Result<StatusPage> statuses(const Op& op, StatusRead q, const storage::VisitStatus& visit) {
    if (away()) return trouble();
    q.limit = std::min(q.limit, page_records_max);
    const bool breaks = fate_.strikes(0.05);
    auto page =
        inner_.under(op).statuses(q, [&](const davit_status& s) { return visit(from_abi(s)); });
    if (breaks) return trouble();
    return page;
  }
  Result<> progress(const Op& op, const Progress& p) {
    witness_.heard(p);
    if (away()) return trouble();
    auto r = inner_.under(op).progress(p);
    hint(DAVIT_HINT_AGENTS);
    return r;
  }
  Result<bool> agents(const Op& op, AgentRead q, const storage::VisitProgress& visit) {
    if (away()) return trouble();
    q.limit = std::min(q.limit, page_records_max);
    return inner_.under(op).agent_page(q,
                                       [&](const davit_progress& p) { return visit(from_abi(p)); });
  }
  Result<> maintain(const Op& op, const storage::Maintain& m) {
    if (away()) return trouble();
    auto r = inner_.under(op).maintain(m);
    witness_.purged();
    return r;
  }
  davit_storage_watch* watch(storage::Hint hint) { return hints_.watch(std::move(hint)); }
  void unwatch(davit_storage_watch* watch) { hints_.unwatch(watch); }

 private:
  bool away() { return closed_ || fate_.strikes(0.01); }
  static Error trouble() { return {Code::unavailable, "the store is away"}; }
  void hint(uint32_t what) {
    if (!fate_.strikes(0.1)) hints_.tell(what);
  }

  Fate& fate_;
  History& history_;
  Witness& witness_;
  storage::Client inner_;
  bool closed_ = false;
  Cursor witnessed_;  // statuses up to it were shown to the witness
  std::vector<Status> straggler_;
  storage::Hints hints_;
};

}  // namespace davit::simulation
