// The members of storage::Client that are more than one call of one slot. Included by storage.hpp.
#pragma once

#include "storage.hpp"

namespace davit::storage {

template <class Visit>
Result<> Client::agents(const std::string& region, Visit visit, const Op& op) const {
  constexpr uint32_t agents_per_page = 500;
  AgentRead q{region, {}, {}, agents_per_page};
  while (true) {
    std::pair last(q.after_region, q.after_agent);
    bool goes_on = true;
    const auto more = agent_page(
        q,
        [&](const davit_progress& p) {
          last = {text(p.region), text(p.agent)};
          return goes_on = visit(p);
        },
        op);
    if (!more.ok()) return more.error();
    if (!*more || !goes_on) return {};
    if (last <= std::pair(q.after_region, q.after_agent))
      return Error{
          Code::internal, "the storage gave a page of agents that does not advance", {}, {}};
    std::tie(q.after_region, q.after_agent) = std::move(last);
  }
}

inline Result<std::vector<GroupResult>> Client::commit_now(const std::vector<Group>& groups,
                                                           const Op& op) const {
  std::deque<GroupView> views;
  std::vector<const davit_group*> in;
  std::vector<davit_group_result> results(groups.size());
  std::vector<davit_group_result*> out;
  for (const auto& g : groups) in.push_back(&views.emplace_back(g).abi);
  for (auto& r : results) {
    r.struct_size = sizeof r;
    out.push_back(&r);
  }
  auto r = checked([&](davit_error* e) {
    return vtable_->commit(ref_.self, op.abi(), in.data(), in.size(), out.data(), e);
  });
  if (!r.ok()) return r.error();
  std::vector<GroupResult> owned;
  for (const auto& g : results) owned.push_back(from_abi(g));
  return owned;
}

inline void Client::commit(const Group& group, std::function<void(GroupResult)> done) const {
  const GroupView v(group);
  using Done = std::function<void(GroupResult)>;
  queue_->commit(
      host_->abi(), ref_.instance, &v.abi,
      [](void* ctx, const davit_group_result* r) {
        must_not_throw("the answer to davit_commit.commit", [&] {
          std::unique_ptr<Done> f(static_cast<Done*>(ctx));
          (*f)(from_abi(*r));
        });
      },
      new Done(std::move(done)));
}

inline void Client::report(const std::vector<Status>& statuses,
                           std::function<void(Result<>)> done) const {
  std::deque<StatusView> views;
  std::vector<const davit_status*> pointers;
  for (const auto& s : statuses) pointers.push_back(&views.emplace_back(s).abi);
  using Done = std::function<void(Result<>)>;
  queue_->report(
      host_->abi(), ref_.instance, pointers.data(), pointers.size(),
      [](void* ctx, int32_t code, const davit_error* e) {
        must_not_throw("the answer to davit_commit.report", [&] {
          std::unique_ptr<Done> f(static_cast<Done*>(ctx));
          (*f)(code == DAVIT_OK ? Result<>() : Result<>(take(*e, code)));
        });
      },
      new Done(std::move(done)));
}

}  // namespace davit::storage
