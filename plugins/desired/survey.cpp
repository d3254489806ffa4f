#include "survey.hpp"

#include <davit/v1/operator.pb.h>

#include "page_size.hpp"

namespace davit::desired {

Result<bool> Survey::refresh() {
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  const bool records_moved = first_ || head->head != head_.head;
  const bool statuses_moved = first_ || head->status_head != head_.status_head;
  head_ = *head;
  if (records_moved) {
    auto r = read_records();
    if (!r.ok() &&
        r.error().code ==
            Code::out_of_range) {  // another history, or purged meanwhile: from the start
      board_.reset();
      records_ = {};
      statuses_ = 0;
      r = read_records();
      if (r.ok()) r = read_statuses();
    }
    if (!r.ok()) return r.error();
  }
  if (statuses_moved) {
    if (auto r = read_statuses(); !r.ok()) return r.error();
  }
  auto agents_moved = read_agents();
  if (!agents_moved.ok()) return agents_moved.error();
  first_ = false;
  return records_moved || statuses_moved || *agents_moved;
}

Result<> Survey::read_records() {
  const Selection& s = board_.selection();
  if (!s.id.empty() && !s.kind.empty() && !s.region.empty()) {
    auto head = storage_.get({{s.kind, s.region, s.id}, {}, {}}, [&](const davit_record& r) {
      board_.record(r);
      return true;
    });
    if (!head.ok()) return head.error();
    return {};
  }
  for (bool more = true; more;) {
    auto page = storage_.read({{s.kind, s.region}, records_, 0, records_per_page, bytes_per_page},
                              [&](const davit_record& r) {
                                board_.record(r);
                                return true;
                              });
    if (!page.ok()) return page.error();
    records_ = {page->head.head.incarnation, page->next_version};
    more = page->more;
  }
  return {};
}

Result<> Survey::read_statuses() {
  const Selection& s = board_.selection();
  for (;;) {
    uint32_t count = 0;
    auto next = storage_.statuses({s.kind, s.region}, statuses_, records_per_page,
                                  [&](const davit_status& status) {
                                    ++count;
                                    board_.status(from_abi(status));
                                    return true;
                                  });
    if (!next.ok()) return next.error();
    statuses_ = *next;
    if (count < records_per_page) return {};
  }
}

Result<bool> Survey::read_agents() {
  std::vector<Progress> all;
  auto r = storage_.agents([&](const davit_progress& p) {
    all.push_back(from_abi(p));
    return true;
  });
  if (!r.ok()) return r.error();

  bool moved = all.size() != counted_.size();
  decltype(counted_) counted;
  std::vector<Agent> agents;
  for (auto& p : all) {
    const std::pair name{p.region, p.agent};
    std::vector<Cursor> basis{head_.head};
    for (const auto& k : p.kinds) basis.push_back(k.applied);
    auto last = counted_.find(name);
    uint64_t behind = 0;
    if (last != counted_.end() && last->second.first == basis) {
      behind = last->second.second.lag;
      moved |= last->second.second.progress.seen_at_unix_ms != p.seen_at_unix_ms;
    } else {
      auto l = lag(p);
      if (!l.ok()) return l.error();
      behind = *l;
      moved = true;
    }
    agents.push_back({std::move(p), behind});
    counted[name] = {std::move(basis), agents.back()};
  }
  counted_ = std::move(counted);
  board_.agents(std::move(agents));
  return moved;
}

Result<uint64_t> Survey::lag(const Progress& progress) {
  uint64_t sum = 0;
  for (const auto& k : progress.kinds) {
    const Scope scope{k.kind, progress.region};
    auto count = newer(scope, k.applied);
    // A cursor of another history says nothing about this one: nothing counts as applied.
    if (!count.ok() && count.error().code == Code::out_of_range) count = newer(scope, {});
    if (!count.ok()) return count.error();
    sum += *count;
  }
  return sum;
}

Result<uint64_t> Survey::newer(const Scope& scope, Cursor at) {
  uint64_t count = 0;
  for (bool more = true; more;) {
    auto page =
        storage_.read({scope, at, 0, records_per_page, bytes_per_page}, [&](const davit_record&) {
          ++count;
          return true;
        });
    if (!page.ok()) return page.error();
    at = {page->head.head.incarnation, page->next_version};
    more = page->more;
  }
  return count;
}

std::string Survey::answer() const {
  v1::StatusResponse out;
  board_.render(head_.head, &out);
  return out.SerializeAsString();
}

}  // namespace davit::desired
