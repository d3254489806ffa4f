// The naive store as one that takes copies (abi/storage_move.h), rightly or wrongly.
#pragma once

#include <davit/storage_move.hpp>

#include "storage_naive.hpp"

namespace davit::storage_naive {

class Movable : public StorageNaive {
 public:
  using roles = Roles<OwnTable, storage::MoveRole>;
  using StorageNaive::StorageNaive;

  // Nothing outlives the instance, so there is never a store to observe.
  static Result<> observe(const Op&, bool) {
    return Error{Code::failed_precondition, "there is no store"};
  }
  Result<std::string> begin(const Op&, storage::LoadBegin how) {
    const auto lock = hold();
    if (!loading_ && contents().head_) return Error{Code::already_exists, "the store has content"};
    if (how.look) return note_;
    if (how.anew) contents() = {}, note_.clear();
    loading_ = true;
    return note_;
  }
  Result<> load(const Op&, const storage::Load& what) {
    const auto lock = hold();
    if (!loading_) return not_loading();
    for (const Record& r : what.records) keep(r);
    for (const Status& s : what.statuses) keep(s);
    note_ = what.note;
    return {};
  }
  Result<> finish(const Op&, const storage::LoadEnd& end) {
    const auto lock = hold();
    if (!loading_) return not_loading();
    loading_ = false;
    auto& c = contents();
    if (fault() != "keeps_strays")
      std::erase_if(c.statuses_, [&](const auto& s) { return c.records_.count(s.first) == 0; });
    c.head_ = end.history.back().version;
    c.status_head_ = end.status_head;
    c.chain_.clear();
    Version first = 1;
    for (const Cursor link : end.history) {
      if (fault() != "forgets_the_source") c.chain_.push_back({link.incarnation, first, 1});
      first = link.version.next();
    }
    if (fault() != "goes_on_as_the_source")
      c.chain_.push_back({c.draw(), first, end.status_head.next()});
    return {};
  }

 private:
  static Error not_loading() { return {Code::failed_precondition, "the store is not loading"}; }
  void keep(Record r) {
    auto& c = contents();
    const auto before = c.records_.find(r.key);
    if (before != c.records_.end()) {
      if (before->second.version >= r.version) return;
      c.versions_.erase(before->second.version);
    }
    if (fault() == "loads_new_versions") r.version = c.head_.next();
    c.versions_[r.version] = r.key;
    c.head_ = std::max(c.head_, r.version);
    c.hidden_.erase(r.key);
    if (!r.live && r.name.empty()) c.hidden_.insert(r.key);
    c.records_[r.key] = std::move(r);
  }
  void keep(const Status& s) {
    auto& c = contents();
    const auto before = c.statuses_.find(s.key);
    if (before != c.statuses_.end() && before->second.status_version >= s.status_version) return;
    c.status_head_ = std::max(c.status_head_, s.status_version);
    c.statuses_[s.key] = s;
  }

  bool loading_ = false;
  std::string note_;
};

}  // namespace davit::storage_naive
