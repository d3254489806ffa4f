// The host's commit queue: what waits is committed together, a moment after it was asked for. So
// what one operator's request was judged by may have changed when it is carried out, as in a server
// that serves several. One in a process: the ABI's slots carry no pointer to it.
#pragma once

#include <davit/storage.hpp>

#include "fate.hpp"
#include "later.hpp"

namespace davit::simulation {

class CommitQueue {
 public:
  // `storage`: the instance that all is for.
  CommitQueue(Host host, Fate& fate, std::string storage)
      : host_(host), fate_(fate), strand_(host.strand()), storage_(std::move(storage)) {
    current_ = this;
  }
  ~CommitQueue() { current_ = nullptr; }
  CommitQueue(const CommitQueue&) = delete;
  CommitQueue& operator=(const CommitQueue&) = delete;

  static const davit_commit* table() {
    static const davit_commit t = {
        sizeof(davit_commit), 0,
        [](const davit_host*, davit_str, const davit_op*, const davit_group* group,
           davit_commit_done done, void* ctx) {
          current_->commit({from_abi(*group), done, ctx});
        },
        [](const davit_host*, davit_str, const davit_op* op, const davit_status* const* statuses,
           size_t count, davit_report_done done, void* ctx) {
          std::vector<Status> owned;
          for (size_t i = 0; i < count; ++i) owned.push_back(from_abi(*statuses[i]));
          current_->report(Op(op), std::move(owned), done, ctx);
        }};
    return &t;
  }

 private:
  struct Waiting {
    Group group;
    davit_commit_done done;
    void* ctx;
  };

  void commit(Waiting one) {
    waiting_.push_back(std::move(one));
    if (waiting_.size() == 1) later(strand_, fate_.delay(), [this] { carry_out(); });
  }
  void carry_out() {
    const auto all = std::exchange(waiting_, {});
    std::vector<Group> groups;
    for (const auto& one : all) groups.push_back(one.group);
    const auto storage = storage::Client::find(host_, storage_);
    const auto results = storage.ok() ? storage->commit_now(groups)
                                      : Result<std::vector<GroupResult>>(storage.error());
    for (size_t i = 0; i < all.size(); ++i) {
      davit_group_result out{sizeof(davit_group_result), 0, 0, 0, 0, {}};
      if (results.ok()) {
        out = to_abi((*results)[i]);
      } else {
        fill(&out.error, results.error());
      }
      all[i].done(all[i].ctx, &out);
    }
  }
  void report(const Op& op, std::vector<Status> statuses, davit_report_done done, void* ctx) {
    later(strand_, fate_.delay(), [this, op, statuses = std::move(statuses), done, ctx] {
      davit_error e{};
      const auto storage = storage::Client::find(host_, storage_);
      const Result<> r =
          storage.ok() ? storage->under(op).report_now(statuses) : Result<>(storage.error());
      done(ctx, r.ok() ? DAVIT_OK : fill(&e, r.error()), &e);
    });
  }

  inline static CommitQueue* current_ = nullptr;
  Host host_;
  Fate& fate_;
  Strand strand_;
  const std::string storage_;
  std::vector<Waiting> waiting_;
};

}  // namespace davit::simulation
