#include "survey.hpp"

#include <davit/v1/operator.pb.h>

#include "page_size.hpp"

namespace davit::desired {

Error given_up() {
  return {Code::cancelled, "nobody waits for the answer any more", {}, {}};
}

Error stands_still() {
  return {Code::internal, "the storage gave a page that does not advance", {}, {}};
}

Result<bool> Survey::refresh() {
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  const bool records_moved = first_ || head->head != head_.head;
  const bool statuses_moved = first_ || head->status_head != head_.status_head ||
                              head->head.incarnation != head_.head.incarnation;
  head_ = *head;
  // The agents come first: they decide for which records `unsent` is asked.
  auto agents_moved = look_at_agents();
  if (!agents_moved.ok()) return agents_moved.error();
  auto read = read_news(records_moved, statuses_moved);
  if (!read.ok() && read.error().code == Code::out_of_range) {
    // The history changed, or tombstones were purged meanwhile: read from the start.
    board_.reset();
    records_ = statuses_ = {};
    read = read_news(true, true);
  }
  if (!read.ok()) return read.error();
  if (auto r = judge_records(); !r.ok()) return r.error();
  first_ = false;
  return records_moved || statuses_moved || *agents_moved;
}

Result<> Survey::read_news(bool records, bool statuses) {
  if (records) {
    if (auto r = read_records(board_.selection().region, records_); !r.ok()) return r;
  }
  return statuses ? read_statuses() : Result<>();
}

// Reads the records again in regions where `unsent` was not asked when they were read.
Result<> Survey::judge_records() {
  auto regions = board_.judged_regions();
  for (const auto& region : regions) {
    if (first_ || judged_.contains(region)) continue;
    Cursor from;
    if (auto r = read_records(region, from); !r.ok()) return r;
  }
  judged_ = std::move(regions);
  return {};
}

Result<> Survey::read_records(const std::string& region, Cursor& from) {
  const Selection& s = board_.selection();
  if (!s.id.empty() && !s.kind.empty() && !s.region.empty()) {
    auto head = storage_.get({{s.kind, s.region, s.id}, {}, {}}, [&](const davit_record& r) {
      board_.record(r);
      return true;
    });
    if (!head.ok()) return head.error();
    return {};
  }
  const bool all = from.version == 0;
  for (bool more = true; more;) {
    Result<uint64_t> dead_after = uint64_t{0};
    if (all) dead_after = leave_out_none(storage_);
    if (!dead_after.ok()) return dead_after.error();
    auto page =
        storage_.read({{s.kind, region}, from, *dead_after, records_per_page, bytes_per_page},
                      [&](const davit_record& r) {
                        board_.record(r);
                        return true;
                      });
    if (!page.ok()) return page.error();
    more = page->more;
    if (more && page->next_version <= from.version) return stands_still();
    from = {page->head.head.incarnation, page->next_version};
    if (more && !go_on_()) return given_up();
  }
  return {};
}

Result<> Survey::read_statuses() {
  const Selection& s = board_.selection();
  for (;;) {
    auto page = storage_.statuses({{s.kind, s.region}, statuses_, records_per_page, bytes_per_page},
                                  [&](const davit_status& status) {
                                    board_.status(from_abi(status));
                                    return true;
                                  });
    if (!page.ok()) return page.error();
    if (page->more && page->next.version <= statuses_.version) return stands_still();
    statuses_ = page->next;
    if (!page->more) return {};
    if (!go_on_()) return given_up();
  }
}

Result<bool> Survey::look_at_agents() {
  auto agents = read_agents(storage_, lag_, board_.selection().region, go_on_);
  if (!agents.ok()) return agents.error();
  decltype(seen_) seen;
  for (const Agent& a : *agents)
    seen[{a.progress.region, a.progress.agent}] = {a.progress.seen_at_unix_ms, a.lag};
  const bool moved = seen != seen_;
  seen_ = std::move(seen);
  board_.agents(std::move(*agents));
  return moved;
}

Result<std::vector<Agent>> read_agents(const storage::Client& storage, Lag& lag,
                                       const std::string& region, const GoOn& go_on) {
  if (auto r = lag.refresh(storage, go_on); !r.ok()) return r.error();
  std::vector<Agent> out;
  auto r = storage.agents(region, [&out](const davit_progress& p) {
    out.push_back({from_abi(p)});
    return true;
  });
  if (!r.ok()) return r.error();
  for (Agent& a : out) a.lag = lag.of(a.progress);
  return out;
}

void Survey::render(int64_t now_unix_ms, v1::StatusResponse* out) const {
  board_.render(head_.head, now_unix_ms, out);
}

}  // namespace davit::desired
