// The members of storage::Client that are more than one call of one slot. Included by storage.hpp.
#pragma once

#include "storage.hpp"

namespace davit::storage {

template <class Visit>
Result<> Client::agents(const std::string& region, Visit visit) const {
  constexpr uint32_t agents_per_page = 500;
  AgentRead q{region, {}, {}, agents_per_page};
  while (true) {
    std::pair last(q.after_region, q.after_agent);
    bool goes_on = true;
    const auto more = agent_page(q, [&](const davit_progress& p) {
      last = {text(p.region), text(p.agent)};
      return goes_on = visit(p);
    });
    if (!more.ok()) return more.error();
    if (!*more || !goes_on) return {};
    if (last <= std::pair(q.after_region, q.after_agent))
      return Error{Code::internal, "the storage gave a page of agents that does not advance"};
    std::tie(q.after_region, q.after_agent) = std::move(last);
  }
}

inline Result<> Client::maintain(const Maintain& m) const {
  if (auto e = outside(m)) return *e;
  const uint32_t flags =
      (m.purge ? DAVIT_MAINTAIN_PURGE : 0) | (m.forgets() ? DAVIT_MAINTAIN_FORGET_AGENT : 0);
  const davit_maintain request{sizeof(davit_maintain),  flags,
                               m.purge_through.value(), str(m.forget.region),
                               str(m.forget.agent),     m.forget.seen_at_unix_ms};
  return checked(
      [&](davit_error* e) { return vtable_->maintain(ref_.self, op_.abi(), &request, e); });
}

inline Result<History> Client::history() const {
  History out;
  Visitor visitor([&out](const davit_cursor& link) {
    out.push_back(from_abi(link));
    return true;
  });
  auto r = checked(
      [&](davit_error* e) { return vtable_->history(ref_.self, op_.abi(), visitor, &visitor, e); },
      visitor);
  if (!r.ok()) return r.error();
  return out;
}

inline Result<std::vector<GroupResult>> Client::commit_now(const std::vector<Group>& groups) const {
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
    return vtable_->commit(ref_.self, op_.abi(), in.data(), in.size(), out.data(), e);
  });
  if (!r.ok()) return r.error();
  std::vector<GroupResult> owned;
  for (const auto& g : results) owned.push_back(from_abi(g));
  return owned;
}

inline void Client::commit(const Group& group, std::function<void(GroupResult)> done) const {
  const GroupView v(group);
  queue_->commit(
      host_->abi(), ref_.instance, op_.abi(), &v.abi,
      [](void* ctx, const davit_group_result* r) {
        must_not_throw("the answer to davit_commit.commit", [&] {
          const std::unique_ptr<Answer<GroupResult>> answer(static_cast<Answer<GroupResult>*>(ctx));
          answer->done(from_abi(*r));
        });
      },
      new Answer<GroupResult>{std::move(done), op_});
}

inline void Client::report(const std::vector<Status>& statuses,
                           std::function<void(Result<>)> done) const {
  std::deque<StatusView> views;
  std::vector<const davit_status*> pointers;
  for (const auto& s : statuses) pointers.push_back(&views.emplace_back(s).abi);
  queue_->report(
      host_->abi(), ref_.instance, op_.abi(), pointers.data(), pointers.size(),
      [](void* ctx, int32_t code, const davit_error* e) {
        must_not_throw("the answer to davit_commit.report", [&] {
          const std::unique_ptr<Answer<Result<>>> answer(static_cast<Answer<Result<>>*>(ctx));
          answer->done(code == DAVIT_OK ? Result<>() : Result<>(take(*e, code)));
        });
      },
      new Answer<Result<>>{std::move(done), op_});
}

}  // namespace davit::storage
