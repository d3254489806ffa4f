#include "status_reader.hpp"

#include <davit/v1/operator.pb.h>

#include "page_size.hpp"

namespace davit::desired {

Error given_up() {
  return {Code::cancelled, "nobody waits for the answer any more"};
}

Error stands_still() {
  return {Code::internal, "the storage gave a page that does not advance"};
}

// A read that the kinds' answers have interrupted goes on where it was.
Result<bool> StatusReader::refresh() {
  take_answers();
  if (stage_ == Stage::begin) {
    if (auto r = begin(); !r.ok()) return r.error();
  }
  while (stage_ != Stage::end) {
    auto r = step();
    if (queries_ && (!r.ok() || queries_->empty())) queries_.reset();
    if (!r.ok() && r.error().code == Code::out_of_range && !std::exchange(again_, true)) {
      // The history changed, or tombstones were purged meanwhile: read from the start.
      view_.reset();
      records_ = statuses_ = {};
      all_ = statuses_moved_ = true;
      stage_ = Stage::records;
      continue;
    }
    if (!r.ok()) {
      stage_ = Stage::begin;
      return r.error();
    }
    if (queries_) return false;
  }
  stage_ = Stage::begin;
  first_ = false;
  return moved_;
}

Result<> StatusReader::begin() {
  auto head = storage_.head();
  if (!head.ok()) return head.error();
  const bool records_moved = first_ || head->head != head_.head;
  const bool new_history = first_ || head->head.incarnation != head_.head.incarnation;
  statuses_moved_ = new_history || head->status_head != head_.status_head;
  if (new_history) {
    auto history = storage_.history();
    if (!history.ok()) return history.error();
    history_ = std::move(*history);
  }
  head_ = *head;
  // The agents come first: they decide about which records the kinds are asked.
  auto agents_moved = look_at_agents();
  if (!agents_moved.ok()) return agents_moved.error();
  moved_ = records_moved || statuses_moved_ || *agents_moved;
  again_ = false;
  all_ = !records_.version;
  stage_ = records_moved ? Stage::records : Stage::statuses;
  return {};
}

// Reads a page of records, or all new statuses.
Result<> StatusReader::step() {
  if (stage_ == Stage::records) {
    auto more = names_one() ? read_record() : read_page(view_.selection().region, records_, all_);
    if (!more.ok()) return more.error();
    if (!*more) stage_ = Stage::statuses;
    return {};
  }
  if (stage_ == Stage::judge) return judge();
  if (statuses_moved_) {
    if (auto r = read_statuses(); !r.ok()) return r;
  }
  begin_to_judge();
  return {};
}

// Finds the regions whose records are to be read again: the kinds were not asked about them when
// they were read, or could not answer.
void StatusReader::begin_to_judge() {
  stage_ = Stage::judge;
  to_read_.clear();
  region_ = {};
  if (!asks_.add) return;
  constexpr std::chrono::seconds delayed_every{5};
  auto regions = view_.judged_regions();
  std::set<std::string> again;
  if (!judged_at_ || asks_.now() - *judged_at_ >= delayed_every) again = view_.delayed_regions();
  for (const auto& region : regions) {
    const bool asked = first_ || judged_.contains(region);
    if (!asked || (!first_ && again.contains(region))) to_read_.push_back(region);
  }
  if (!again.empty()) {
    judged_at_ = asks_.now();
    moved_ = true;
  }
  judged_ = std::move(regions);
}

Result<> StatusReader::judge() {
  if (to_read_.empty()) {
    stage_ = Stage::end;
    return {};
  }
  auto more = names_one() ? read_record() : read_page(to_read_.back(), region_, true);
  if (!more.ok()) return more.error();
  if (*more) return {};
  to_read_.pop_back();
  region_ = {};
  return {};
}

void StatusReader::visit(const davit_record& r) {
  if (!view_.record(r) || !asks_.add) return;
  if (!queries_) queries_ = std::make_shared<KindQueries>();
  asks_.add(r, *queries_);
}

void StatusReader::take_answers() {
  if (!queries_) return;
  const auto answers = asks_.answers ? asks_.answers(*queries_) : queries_->answers();
  for (const auto& [key, said] : answers) view_.unsent(key, said);
  queries_.reset();
}

bool StatusReader::names_one() const {
  const Selection& s = view_.selection();
  return !s.id.empty() && !s.kind.empty() && !s.region.empty();
}

// The record that the selection names. Never more.
Result<bool> StatusReader::read_record() {
  const Selection& s = view_.selection();
  auto head = storage_.get({{s.kind, s.region, s.id}, {}, {}}, [&](const davit_record& r) {
    visit(r);
    return true;
  });
  if (!head.ok()) return head.error();
  return false;
}

// True: there are more. `all`: a read from the start, page after page.
Result<bool> StatusReader::read_page(const std::string& region, Cursor& from, bool all) {
  Result<Version> dead_after = Version();
  if (all) dead_after = leave_out_none(storage_);
  if (!dead_after.ok()) return dead_after.error();
  auto page = storage_.read({.scope = {view_.selection().kind, region},
                             .cursor = from,
                             .dead_after = *dead_after,
                             .limit = records_per_page,
                             .bytes_max = bytes_per_page,
                             .no_payload = view_.judged_regions().empty()},
                            [&](const davit_record& r) {
                              visit(r);
                              return true;
                            });
  if (!page.ok()) return page.error();
  if (page->more && page->next_version <= from.version) return stands_still();
  from = {page->head.head.incarnation, page->next_version};
  if (page->more && !go_on_()) return given_up();
  return page->more;
}

Result<> StatusReader::read_statuses() {
  const Selection& s = view_.selection();
  for (;;) {
    auto page = storage_.statuses({{s.kind, s.region}, statuses_, records_per_page, bytes_per_page},
                                  [&](const davit_status& status) {
                                    view_.status(from_abi(status));
                                    return true;
                                  });
    if (!page.ok()) return page.error();
    if (page->more && page->next.version <= statuses_.version) return stands_still();
    statuses_ = page->next;
    if (!page->more) return {};
    if (!go_on_()) return given_up();
  }
}

Result<bool> StatusReader::look_at_agents() {
  auto agents = read_agents(storage_, lag_, view_.selection().region, go_on_);
  if (!agents.ok()) return agents.error();
  decltype(seen_) seen;
  for (const Agent& a : *agents)
    seen[{a.progress.region, a.progress.agent}] = {a.progress.seen_at_unix_ms, a.lag};
  const auto delays = asks_.delays ? asks_.delays() : std::vector<Delay>();
  decltype(delayed_) delayed;
  for (const Delay& d : delays) delayed[{d.key, d.stage}] = d.version;
  const bool moved = seen != seen_ || delayed != delayed_;
  seen_ = std::move(seen);
  delayed_ = std::move(delayed);
  view_.agents(std::move(*agents), Delayed(delays));
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

void StatusReader::render(int64_t now_unix_ms, v1::StatusResponse* out) const {
  view_.render(head_.head, now_unix_ms, out);
  desired::render(history_, out);
}

}  // namespace davit::desired
